// Package runreport reports the result of a run to people who did not watch it: the landed tasks
// with their evidence, the others with their reasons, the points to check, and the cost. The same
// report is written as a page, for a pull request, as a table, for a terminal, and as a file
// about the state of the work.
package runreport

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/replan"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
	"github.com/nexus-ai-builder/nexus/internal/view/runquality"
)

// Report is the result of a run and the JSON output of `nexus status --report`.
type Report struct {
	runquality.RunQuality
	Branch    string                 `json:"branch,omitzero"` // branch with the published result
	Delivered string                 `json:"delivered,omitzero"`
	Started   time.Time              `json:"started,omitzero"`
	Ended     time.Time              `json:"ended,omitzero"` // zero while it is in progress
	Now       time.Time              `json:"now"`            // time of the report
	Landed    []LandedTask           `json:"landed"`
	Left      []UnlandedTask         `json:"not_landed"`
	LookAt    []AttentionPoint       `json:"look_at"`
	Money     ReportCost             `json:"money"`
	Time      RunDuration            `json:"time"`
	Decided   []RunDecision          `json:"decided"`
	Graph     projection.PlanGraph   `json:"graph"`
	Timeline  projection.RunTimeline `json:"timeline"`
}

// LandedTask is a task in the result, with its evidence.
type LandedTask struct {
	ID       nexus.TaskID               `json:"id"`
	Title    string                     `json:"title"`
	Commit   string                     `json:"commit"`
	Tree     string                     `json:"tree"`
	Gates    []accept.NoteGateResult    `json:"gates"` // that judged exactly this tree
	Review   *accept.EvidenceNoteReview `json:"review,omitempty"`
	Criteria []ReportCriterion          `json:"criteria"`
	Attempts int                        `json:"attempts"`
	Rounds   int                        `json:"rounds"`
	Seconds  float64                    `json:"seconds"`
	Spent    nexus.Money                `json:"spent"`
}

// ReportCriterion is a criterion with its evidence.
type ReportCriterion struct {
	ID       string                `json:"id"`
	Text     string                `json:"text"`
	State    accept.CriterionState `json:"state"`
	Evidence string                `json:"evidence,omitzero"`
}

// UnlandedTask is a task that is not in the result.
type UnlandedTask struct {
	ID       nexus.TaskID     `json:"id"`
	Title    string           `json:"title"`
	Status   nexus.TaskStatus `json:"status"`
	Why      string           `json:"why,omitzero"`
	Attempts int              `json:"attempts"`
	Rounds   int              `json:"rounds"`
	Spent    nexus.Money      `json:"spent"`
	Findings []nexus.Finding  `json:"findings,omitempty"` // of the gates and reviews of its last round
}

// AttentionPoint is a point that a person should check before the result is used.
type AttentionPoint struct {
	Task nexus.TaskID `json:"task,omitzero"`
	Kind string       `json:"kind"` // question, criterion, red, critical, tests, finding, late or alert
	Text string       `json:"text"`
}

// ReportCost is the actual and the estimated cost of a run.
type ReportCost struct {
	Spent     nexus.Money      `json:"spent"`
	Limit     nexus.Money      `json:"limit"`
	Wasted    nexus.Money      `json:"wasted"` // by failed attempts
	Low       nexus.Money      `json:"estimate_low,omitzero"`
	Likely    nexus.Money      `json:"estimate,omitzero"` // of the tasks; 0: no estimate
	High      nexus.Money      `json:"estimate_high,omitzero"`
	Estimated int              `json:"estimated_tasks"` // number of tasks in the estimate
	Cached    float64          `json:"cache_share"`
	Models    []view.CostShare `json:"by_model"`
	Roles     []view.CostShare `json:"by_role"`
}

// RunDuration is the duration of a run, in seconds. People's part is wall-clock time; the machines' part
// adds up parallel work.
type RunDuration struct {
	Worked  float64 `json:"worked"`            // as every face shows it
	Likely  float64 `json:"estimate,omitzero"` // work on the tasks; 0: no estimate
	People  float64 `json:"people"`            // waiting for a person
	Plan    float64 `json:"plan"`
	Setup   float64 `json:"setup"`
	Agents  float64 `json:"agents"`
	Gates   float64 `json:"gates"`
	Review  float64 `json:"review"`
	Landing float64 `json:"landing"`
	Quota   float64 `json:"quota"` // waiting for a provider's quota
}

// RunDecision is a decision during the run.
type RunDecision struct {
	Task nexus.TaskID `json:"task,omitzero"`
	Text string       `json:"text"`
	By   string       `json:"by,omitzero"`
}

// ReportInput is the input of a report.
type ReportInput struct {
	State    *state.State
	Run      view.RunView
	Criteria accept.CriteriaTable
	Quality  runquality.RunQuality
	Graph    projection.PlanGraph
	Timeline projection.RunTimeline
	Now      time.Time
}

// NewRunReport returns the report of a run. The state is not changed.
func NewRunReport(o ReportInput) Report {
	s, b := o.State, view.BillOf(o.State)
	r := Report{
		RunQuality: o.Quality, Branch: o.Run.Branch, Started: s.Accepted, Ended: s.Ended, Now: o.Now,
		Landed: []LandedTask{}, Left: []UnlandedTask{}, LookAt: []AttentionPoint{}, Decided: []RunDecision{},
		Money:    ReportCost{Spent: b.Money.Spent, Limit: b.Money.Limit, Wasted: b.Wasted, Cached: b.Cached, Models: b.Models, Roles: b.Roles},
		Time:     sumTimelineTimes(o.Timeline),
		Graph:    o.Graph,
		Timeline: o.Timeline,
	}
	if o.Run.Counts.Landed > 0 {
		r.Delivered = o.Run.DeliveryText()
	}
	r.Time.Worked = o.Run.Seconds
	proofs := map[nexus.TaskID]accept.CommitEvidenceNote{}
	for _, p := range s.LandingProofs() {
		proofs[p.Task] = accept.EvidenceNoteOf(s.Run, p)
	}
	rows := map[nexus.TaskID][]ReportCriterion{}
	for _, c := range o.Criteria.Rows {
		rows[c.Task] = append(rows[c.Task], ReportCriterion{ID: c.ID, Text: c.Criterion, State: c.State, Evidence: evidenceLine(c)})
	}
	for i, t := range s.Tasks {
		r.addEstimate(t)
		v := o.Run.Tasks[i]
		switch {
		case t.Status == nexus.Split:
		case t.Landed != nil && t.Status == nexus.Landed:
			note := proofs[t.ID]
			r.Landed = append(r.Landed, LandedTask{
				ID: t.ID, Title: t.Title, Commit: t.Landed.Commit, Tree: t.Landed.Tree, Gates: note.Gates, Review: note.Review,
				Criteria: append([]ReportCriterion{}, rows[t.ID]...),
				Attempts: v.Attempts, Rounds: v.Rounds, Seconds: v.Seconds, Spent: v.Spent,
			})
		default:
			r.Left = append(r.Left, UnlandedTask{
				ID: t.ID, Title: t.Title, Status: v.Status, Why: v.Why, Attempts: v.Attempts, Rounds: v.Rounds, Spent: v.Spent,
				Findings: openFindings(t),
			})
		}
	}
	r.addAttention(o)
	r.addDecisions(s)
	return r
}

// addEstimate adds the estimate of a task.
func (r *Report) addEstimate(t *state.TaskState) {
	if t.Route == nil || t.Route.Estimate == nil || t.Status == nexus.Split {
		return
	}
	e := t.Route.Estimate
	r.Time.Likely += float64(e.Likely.Seconds)
	if e.Unpriced {
		return
	}
	m := &r.Money
	m.Estimated++
	m.Low, m.Likely, m.High = m.Low+e.Low.Money, m.Likely+e.Likely.Money, m.High+e.High.Money
}

// openFindings returns the findings that prevented a task from landing in its last round.
func openFindings(t *state.TaskState) (all []nexus.Finding) {
	a := t.CurrentAttempt()
	if a == nil || a.LastRound() == nil {
		return nil
	}
	last := a.LastRound()
	for _, e := range last.Evidence {
		if e.State.IsRed() {
			all = append(all, e.Findings...)
		}
	}
	if n := len(last.Reviews); n > 0 {
		all = append(all, last.Reviews[n-1].Findings...)
	}
	return slices.Concat(all, a.Handed)
}

// addAttention lists the points for a person to check, those that wait for them first.
func (r *Report) addAttention(o ReportInput) {
	add := func(task nexus.TaskID, kind, text string) {
		r.LookAt = append(r.LookAt, AttentionPoint{Task: task, Kind: kind, Text: text})
	}
	for _, q := range o.Run.Asks {
		add(q.Task, "question", q.ID+" waits for an answer: "+q.Text)
	}
	for _, c := range o.Criteria.Rows {
		if t := o.State.TaskByID(c.Task); t == nil || t.Status != nexus.Landed || c.State == accept.Met {
			continue
		}
		text := fmt.Sprintf("%s is %s: %s", c.ID, c.State, c.Criterion)
		if w := c.Waived; w != nil {
			text += fmt.Sprintf(" (waived by %s: %s)", w.By, cmp.Or(w.Reason, "no reason given"))
		} else if c.Why != "" {
			text += " (" + c.Why + ")"
		}
		add(c.Task, "criterion", text)
	}
	for _, text := range o.Run.Red {
		add("", "red", text)
	}
	for _, t := range o.Run.Tasks {
		for _, text := range t.Own {
			add(t.ID, "tests", text)
		}
		for _, f := range t.Critical {
			add(t.ID, "critical", strings.TrimSpace(f.File+"  "+f.Message))
		}
	}
	for _, t := range o.Quality.Tasks {
		for _, f := range t.Remarks {
			if t.Status == nexus.Landed {
				add(t.ID, "finding", fmt.Sprintf("%s: %s", cmp.Or(f.Severity, nexus.Major), view.FindingText(f)))
			}
		}
	}
	for _, l := range o.Run.Late {
		add(l.Task, "late", "was sent too late: "+l.Text)
	}
	for _, a := range o.Run.ActiveAlerts() {
		add("", "alert", a.Why)
	}
}

// addDecisions lists the decisions of people and at thresholds.
func (r *Report) addDecisions(s *state.State) {
	for _, q := range s.Questions {
		if q.By == "" {
			continue
		}
		task := nexus.TaskID("")
		if t := s.AskingTask(q); t != nil {
			task = t.ID
		}
		r.Decided = append(r.Decided, RunDecision{Task: task, Text: q.ID + ": " + q.Text + " -> " + q.Answer, By: q.By})
	}
	for _, t := range s.Tasks {
		for _, d := range t.Replans {
			r.Decided = append(r.Decided, RunDecision{Task: t.ID, Text: replan.DecisionText(d)})
		}
	}
}

// evidenceLine describes in one line the evidence of a criterion, or why there is none.
func evidenceLine(c accept.CriterionRow) string {
	var parts []string
	if c.Test != "" || c.File != "" {
		parts = append(parts, strings.TrimSpace(c.Test+" "+c.File))
	}
	if e := c.Evidence; e != nil {
		text := fmt.Sprintf("%s: %s", cmp.Or(e.Command, e.Gate), e.State)
		if e.Counts != (nexus.TestCounts{}) {
			text += fmt.Sprintf(", %d passed, %d failed", e.Counts.Passed, e.Counts.Failed)
		}
		parts = append(parts, text)
	}
	if c.Shown != nil && c.State == accept.Met {
		parts = append(parts, c.Shown.Why)
	}
	if c.Why != "" {
		parts = append(parts, c.Why)
	}
	return strings.Join(slices.DeleteFunc(parts, func(p string) bool { return p == "" }), "; ")
}

// sumTimelineTimes adds up the times of a timeline.
func sumTimelineTimes(l projection.RunTimeline) (t RunDuration) {
	var people []projection.TimelineSpan
	for _, r := range l.Rows {
		for _, s := range r.Spans {
			if s.To.IsZero() {
				s.To = l.To
			}
			took := max(s.To.Sub(s.From), 0).Seconds()
			switch s.Stage {
			case "plan":
				t.Plan += took
			case "setup":
				t.Setup += took
			case "work":
				t.Agents += took
			case "gate":
				t.Gates += took
			case "review":
				t.Review += took
			case "land":
				t.Landing += took
			case "quota":
				t.Quota += took
			case "person":
				people = append(people, s)
			}
		}
	}
	slices.SortStableFunc(people, func(x, y projection.TimelineSpan) int { return x.From.Compare(y.From) })
	var until time.Time
	for _, s := range people {
		if s.From.Before(until) {
			s.From = until
		}
		if s.To.After(s.From) {
			t.People += s.To.Sub(s.From).Seconds()
			until = s.To
		}
	}
	return t
}

// MaskTexts returns the report with all texts masked, before anything is escaped, cut or drawn.
func (r Report) MaskTexts(mask func(string) string) (Report, error) {
	data, err := json.Marshal(r)
	if err != nil {
		return Report{}, err
	}
	var tree any
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	if err := d.Decode(&tree); err != nil {
		return Report{}, err
	}
	if data, err = json.Marshal(maskStrings(tree, mask)); err != nil {
		return Report{}, err
	}
	var out Report
	err = json.Unmarshal(data, &out)
	return out, err
}

func maskStrings(v any, mask func(string) string) any {
	switch v := v.(type) {
	case string:
		return mask(v)
	case []any:
		for i := range v {
			v[i] = maskStrings(v[i], mask)
		}
	case map[string]any:
		for k := range v {
			v[k] = maskStrings(v[k], mask)
		}
	}
	return v
}

// gateText describes a gate's result in one line.
func gateText(g accept.NoteGateResult) string {
	parts := []string{string(g.State)}
	if c := g.Counts; c != nil {
		parts = append(parts, fmt.Sprintf("%d passed, %d failed, %d skipped", c.Passed, c.Failed, c.Skipped))
	}
	if g.Findings > 0 {
		parts = append(parts, view.CountWithNoun(g.Findings, "finding"))
	}
	if g.Why != "" {
		parts = append(parts, g.Why)
	}
	return strings.Join(parts, "; ")
}

// reviewText describes the result of a review in a few words.
func reviewText(r *accept.EvidenceNoteReview) string {
	switch {
	case r == nil:
		return "not reviewed"
	case !r.Reviewed:
		return "review unreadable"
	case r.Approved && r.Findings > 0:
		return "approved with " + view.CountWithNoun(r.Findings, "finding")
	case r.Approved:
		return "approved"
	default:
		return "rejected, " + view.CountWithNoun(r.Findings, "finding")
	}
}

// countMet counts the criteria that are met.
func countMet(all []ReportCriterion) (n int) {
	for _, c := range all {
		if c.State == accept.Met {
			n++
		}
	}
	return n
}

// namedReportFigure is a figure with its name.
type namedReportFigure struct{ name, value string }

// mainFigures returns the key figures of the run.
func (r Report) mainFigures() []namedReportFigure {
	all := []namedReportFigure{
		{"landed", fmt.Sprintf("%d of %d tasks", r.Metrics.Landed, r.Metrics.Tasks)},
		{"money", fmt.Sprintf("%s of %s", r.Money.Spent, r.Money.Limit)},
	}
	if r.Money.Estimated > 0 {
		all = append(all, namedReportFigure{"estimate", r.Money.estimateText()})
	}
	all = append(all, namedReportFigure{"time worked", formatSeconds(r.Time.Worked)})
	if r.Time.People > 0 {
		all = append(all, namedReportFigure{"waited for people", formatSeconds(r.Time.People)})
	}
	return all
}

// estimateText compares the money spent with the estimate.
func (m ReportCost) estimateText() string {
	text := m.Likely.String()
	if m.High > 0 {
		text += fmt.Sprintf(" (%s to %s)", m.Low, m.High)
	}
	if m.Likely > 0 {
		text += ", spent " + view.FormatPercent(m.Spent.Dollars()/m.Likely.Dollars()) + " of it"
	}
	return text
}

// namedFigures returns the times with their names.
func (t RunDuration) namedFigures() (all []namedReportFigure) {
	for _, row := range []struct {
		name string
		took float64
	}{
		{"worked", t.Worked},
		{"work, as estimated", t.Likely},
		{"waited for people", t.People},
		{"planning", t.Plan},
		{"setup", t.Setup},
		{"agents", t.Agents},
		{"gates", t.Gates},
		{"reviews", t.Review},
		{"landing", t.Landing},
		{"waited for quota", t.Quota},
	} {
		if row.took > 0 {
			all = append(all, namedReportFigure{row.name, formatSeconds(row.took)})
		}
	}
	return all
}

func formatSeconds(seconds float64) string {
	return view.FormatSeconds(seconds)
}
