// Package runquality reports the quality of a run: the tries per gate, the rounds of repair, and the
// findings at the end.
package runquality

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/replan"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// RunQuality is the quality of a run and the JSON output of `nexus status --report`.
type RunQuality struct {
	Run     nexus.RunID              `json:"run"`
	Goal    string                   `json:"goal"`
	Status  nexus.RunStatus          `json:"status"`
	Why     string                   `json:"why,omitzero"`
	Commit  string                   `json:"commit,omitzero"` // landed commit; empty: none
	Verdict *nexus.GatesVerdict      `json:"verdict,omitempty"`
	Spent   nexus.Money              `json:"spent"`
	Metrics RunMetrics               `json:"metrics"`
	Gates   []GateAttemptStatistics  `json:"gates"`
	Groups  []accept.FeatureProgress `json:"groups,omitempty"`
	Tasks   []TaskQuality            `json:"tasks"`
	Flaky   []nexus.FlakyTestCount   `json:"flaky,omitempty"` // unreliable tests, each once

	Coverage *nexus.TestCoverage            `json:"coverage,omitempty"` // of the landed tree; nil: not measured
	Tried    []accept.CheckTrialResult      `json:"checks_tried,omitempty"`
	Earlier  []accept.EarlierRunCheckResult `json:"earlier,omitempty"` // earlier runs' criteria, checked before it began
}

// RunMetrics are figures over all tasks. A rate is relative to the started tasks, from 0 to 1.
type RunMetrics struct {
	Tasks        int     `json:"tasks"`
	Begun        int     `json:"begun"`
	Landed       int     `json:"landed"`
	Parked       int     `json:"parked"` // waiting for a person, or failed
	Helped       int     `json:"helped"` // a person gave guidance, an answer, a retry or another criterion
	Attempts     float64 `json:"mean_attempts"`
	Rounds       float64 `json:"mean_rounds"` // of writing, over all attempts of a task
	MostRounds   int     `json:"most_rounds"`
	FirstAttempt float64 `json:"first_attempt_rate"` // landed by their first attempt
	FirstRound   float64 `json:"first_round_rate"`   // landed in their first version
	Escalated    float64 `json:"escalation_rate"`    // continued at another tier, or in another order of tests and code
	Person       float64 `json:"person_rate"`        // ended with a person
	Reviews      int     `json:"reviews"`
	Rejected     float64 `json:"review_reject_rate"` // of the reviews
	Unread       int     `json:"reviews_unread"`     // unreadable reviews
	Unverified   int     `json:"findings_unverified"`
	Suspected    int     `json:"tampering_suspected"` // rounds in which a change touched files that judge it
	Flaky        int     `json:"flaky_tests"`
}

// GateAttemptStatistics holds the results of one gate in a run's attempts.
type GateAttemptStatistics struct {
	Name    string  `json:"name"`
	Judged  int     `json:"judged"`
	Red     int     `json:"red"`
	Unsure  int     `json:"unsure"` // neither failed nor passed
	Tries   float64 `json:"tries"`  // results per judged attempt
	Seconds float64 `json:"seconds"`
}

// TaskQuality is the history of one task.
type TaskQuality struct {
	ID        nexus.TaskID          `json:"id"`
	Title     string                `json:"title"`
	Status    nexus.TaskStatus      `json:"status"`
	Why       string                `json:"why,omitzero"`
	Commit    string                `json:"commit,omitzero"`
	Attempts  int                   `json:"attempts"`
	Rounds    int                   `json:"rounds"`
	Tiers     []nexus.Tier          `json:"tiers,omitempty"` // in the order in which they were tried
	Strategy  nexus.WritingStrategy `json:"strategy,omitzero"`
	Sent      []string              `json:"sent_back,omitempty"` // by which gate, round by round
	Evidence  []nexus.GateEvidence  `json:"evidence,omitempty"`  // of the last round
	Remarks   []nexus.Finding       `json:"remarks,omitempty"`   // of the last review, none of which blocked landing
	Spent     nexus.Money           `json:"spent"`
	Seconds   float64               `json:"seconds"`
	Escalated bool                  `json:"escalated,omitzero"`

	Decisions []nexus.ReplanDecided `json:"decisions,omitempty"` // continuations chosen at thresholds
}

// NewRunQuality returns the quality of a run, with the figures and words of its view and the criteria
// results in the table.
func NewRunQuality(s *state.State, r view.RunView, t accept.CriteriaTable) RunQuality {
	q := RunQuality{Run: r.ID, Goal: r.Goal, Status: r.Status, Why: r.Why, Spent: r.Money.Spent, Gates: []GateAttemptStatistics{}, Tasks: []TaskQuality{}, Groups: t.Groups}
	if s.Result != nil {
		q.Verdict = &s.Result.Verdict
		q.Coverage = lastCoverage(s.Result.Verdict.Evidence)
	}
	if len(s.Landings) > 0 {
		q.Commit = s.Tip
	}
	gates := map[string]*GateAttemptStatistics{}
	judged := map[string]int{} // attempts by gate
	m := &q.Metrics
	m.Tasks, m.Landed, m.Parked, m.Helped = r.Counts.Total, r.Counts.Landed, r.Counts.Parked+r.Counts.Failed, r.Counts.Helped
	rejected, attempts, rounds, firstAttempt, firstRound, escalated, person := 0, 0, 0, 0, 0, 0, 0
	for i, t := range s.Tasks {
		v := newTaskQuality(t, r.Tasks[i])
		q.Tasks = append(q.Tasks, v)
		for _, a := range t.Attempts {
			for name := range countAttempt(a, gates, m, &rejected, s.Limits.MajorsBlock) {
				judged[name]++
			}
			q.Flaky = addFlakyTests(q.Flaky, a)
		}
		if len(t.Attempts) == 0 {
			continue
		}
		m.Begun++
		attempts, rounds, m.MostRounds = attempts+v.Attempts, rounds+v.Rounds, max(m.MostRounds, v.Rounds)
		escalated += boolToInt(v.Escalated)
		switch v.Status {
		case nexus.Landed:
			firstAttempt += boolToInt(v.Attempts == 1)
			firstRound += boolToInt(v.Attempts == 1 && len(v.Sent) == 0)
		case nexus.Parked, nexus.Failed:
			person++
		default:
		}
	}
	m.Attempts, m.Rounds = ratioOf(attempts, m.Begun), ratioOf(rounds, m.Begun)
	m.FirstAttempt, m.FirstRound = ratioOf(firstAttempt, m.Begun), ratioOf(firstRound, m.Begun)
	m.Escalated, m.Person, m.Rejected = ratioOf(escalated, m.Begun), ratioOf(person, m.Begun), ratioOf(rejected, m.Reviews)
	for _, name := range slices.Sorted(maps.Keys(gates)) {
		g := *gates[name]
		g.Tries = ratioOf(g.Judged, judged[name])
		q.Gates = append(q.Gates, g)
	}
	return q
}

// countAttempt adds the findings of an attempt, and returns the gates that judged it.
func countAttempt(a *state.AttemptState, gates map[string]*GateAttemptStatistics, m *RunMetrics, rejected *int, majors int) map[string]bool {
	seen := map[string]bool{}
	for _, r := range a.UnpackedCopy().Rounds {
		for _, e := range r.Evidence {
			g := gates[e.Gate]
			if g == nil {
				g = &GateAttemptStatistics{Name: e.Gate}
				gates[e.Gate] = g
			}
			seen[e.Gate] = true
			g.Judged++
			g.Seconds += e.Duration.Seconds()
			switch e.State {
			case nexus.Pass:
			case nexus.Fail, nexus.Timeout, nexus.Exceeded:
				g.Red++
			default:
				g.Unsure++
			}
			m.Flaky += len(e.Flaky)
		}
		for _, v := range r.Reviews {
			m.Reviews++
			m.Unread += boolToInt(!v.Reviewed)
			*rejected += boolToInt(v.Reviewed && repair.IsRejection(v, majors))
			for _, f := range v.Findings {
				m.Unverified += boolToInt(f.Unverified != "")
			}
		}
		m.Suspected += boolToInt(r.Suspect != nil)
	}
	return seen
}

// addFlakyTests adds the unreliable tests of an attempt.
func addFlakyTests(all []nexus.FlakyTestCount, a *state.AttemptState) []nexus.FlakyTestCount {
	for _, r := range a.UnpackedCopy().Rounds {
		for _, e := range r.Evidence {
			for _, x := range e.Flaky {
				i := slices.IndexFunc(all, func(o nexus.FlakyTestCount) bool { return o.Test == x.Test })
				if i < 0 {
					all = append(all, x)
					continue
				}
				all[i].Failed, all[i].Runs, all[i].Quarantine = all[i].Failed+x.Failed, all[i].Runs+x.Runs, cmp.Or(all[i].Quarantine, x.Quarantine)
			}
		}
	}
	return all
}

// newTaskQuality returns the history of one task.
func newTaskQuality(t *state.TaskState, row view.TaskView) TaskQuality {
	v := TaskQuality{
		ID: row.ID, Title: row.Title, Status: row.Status, Why: row.Why, Commit: row.Commit, Attempts: row.Attempts, Rounds: row.Rounds, Spent: row.Spent,
		Seconds: row.Seconds, Decisions: row.Decisions,
	}
	for i, a := range t.Attempts {
		if i == 0 || a.Tier != t.Attempts[i-1].Tier {
			v.Tiers = append(v.Tiers, a.Tier)
		}
		v.Escalated = v.Escalated || i > 0 && (a.Tier != t.Attempts[0].Tier || a.Strategy != t.Attempts[0].Strategy)
		v.Strategy = a.Strategy
		for _, r := range a.UnpackedCopy().Rounds {
			if r.Cause != "" {
				v.Sent = append(v.Sent, r.Cause)
			}
		}
	}
	if a := t.CurrentAttempt(); a != nil {
		if r := a.LastRound(); r != nil {
			v.Evidence = r.Evidence
			if n := len(r.Reviews); n > 0 {
				v.Remarks = r.Reviews[n-1].Findings
			}
		}
	}
	return v
}

func ratioOf(n, of int) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

func boolToInt(is bool) int {
	if is {
		return 1
	}
	return 0
}

// TaskEvidence returns the result of the tasks in the form of gate evidence, one per task, for
// readers of such reports.
func (q RunQuality) TaskEvidence() []nexus.GateEvidence {
	var all []nexus.GateEvidence
	for _, t := range q.Tasks {
		e := nexus.GateEvidence{Gate: string(t.ID), State: nexus.NotRun, Command: t.Title, Why: cmp.Or(t.Why, string(t.Status)), Tree: t.Commit, Duration: time.Duration(t.Seconds * float64(time.Second))}
		switch t.Status {
		case nexus.Landed:
			e.State, e.Why = nexus.Pass, ""
		case nexus.Failed, nexus.Parked:
			e.State = nexus.Fail
			for _, g := range t.Evidence {
				if g.State != nexus.Pass {
					e.Findings = append(e.Findings, g.Findings...)
				}
			}
		default:
		}
		all = append(all, e)
	}
	return all
}

// HeadText formats the run and its final status.
func HeadText(q RunQuality) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Run %s: %s\n\n%s\n\n", escapeCell(string(q.Run)), escapeCell(string(q.Status)), escapeCell(view.GoalLine(q.Goal)))
	if q.Why != "" {
		fmt.Fprintf(&b, "%s\n\n", escapeCell(q.Why))
	}
	if q.Verdict != nil && !q.Verdict.Passed {
		fmt.Fprintf(&b, "The result does not pass: %s\n\n", escapeCell(q.Verdict.Why))
	}
	return b.String()
}

// FiguresText formats the figures of a run, for people.
func FiguresText(q RunQuality) string {
	var b strings.Builder
	m := q.Metrics
	b.WriteString("| figure | value |\n|---|--:|\n")
	for _, row := range [][2]string{
		{"tasks landed", fmt.Sprintf("%d of %d", m.Landed, m.Tasks)},
		{"tasks in which a person helped", fmt.Sprint(m.Helped)},
		{"tasks left for a person", fmt.Sprintf("%d (%s)", m.Parked, view.FormatPercent(m.Person))},
		{"attempts per task", fmt.Sprintf("%.1f", m.Attempts)},
		{"rounds per task", fmt.Sprintf("%.1f, at most %d", m.Rounds, m.MostRounds)},
		{"landed on the first attempt", view.FormatPercent(m.FirstAttempt)},
		{"landed in the first round", view.FormatPercent(m.FirstRound)},
		{"moved to another tier or strategy", view.FormatPercent(m.Escalated)},
		{"reviews", fmt.Sprintf("%d, %s rejected, %d unreadable", m.Reviews, view.FormatPercent(m.Rejected), m.Unread)},
		{"findings not verified", fmt.Sprint(m.Unverified)},
		{"rounds that changed their own tests or gates", fmt.Sprint(m.Suspected)},
		{"flaky tests", fmt.Sprint(m.Flaky)},
		{"money", q.Spent.String()},
	} {
		fmt.Fprintf(&b, "| %s | %s |\n", row[0], row[1])
	}
	if len(q.Gates) > 0 {
		b.WriteString("\n## Gates\n\n| gate | judged | failed | undecided | runs per attempt | time |\n|---|--:|--:|--:|--:|--:|\n")
	}
	for _, g := range q.Gates {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %.1f | %.1f s |\n", escapeCell(g.Name), g.Judged, g.Red, g.Unsure, g.Tries, g.Seconds)
	}
	if len(q.Groups) > 0 {
		b.WriteString("\n## Groups\n\n| group | state | tasks landed | criteria met | reason |\n|---|---|--:|--:|---|\n")
	}
	for _, g := range q.Groups {
		state := map[bool]string{true: "done", false: "not done"}[g.Done]
		fmt.Fprintf(&b, "| %s | %s | %d of %d | %d of %d | %s |\n", escapeCell(g.Name), state, g.Landed, g.Tasks, g.Met, g.Met+g.Unmet+g.Unknown, escapeCell(g.Why))
	}
	if len(q.Tasks) > 0 {
		b.WriteString("\n## Tasks\n\n| task | status | attempts | rounds | tiers | sent back by | money |\n|---|---|--:|--:|---|---|--:|\n")
	}
	for _, t := range q.Tasks {
		var tiers []string
		for _, x := range t.Tiers {
			tiers = append(tiers, escapeCell(string(x)))
		}
		fmt.Fprintf(&b, "| %s %s | %s | %d | %d | %s | %s | %s |\n", escapeCell(string(t.ID)), escapeCell(t.Title), escapeCell(string(t.Status)), t.Attempts, t.Rounds, strings.Join(tiers, ", "), escapeCell(strings.Join(t.Sent, ", ")), t.Spent)
	}
	writeDecisions(&b, q)
	if len(q.Flaky) > 0 {
		b.WriteString("\n## Flaky tests\n\n")
	}
	for _, x := range q.Flaky {
		if x.Quarantine != "" {
			fmt.Fprintf(&b, "- %s failed in %d of %d runs, in quarantine %s\n", escapeCell(x.Test), x.Failed, x.Runs, escapeCell(x.Quarantine))
			continue
		}
		fmt.Fprintf(&b, "- %s failed in %d of %d runs; to quarantine it, see nexus quarantine suggest\n", escapeCell(x.Test), x.Failed, x.Runs)
	}
	writeCoverage(&b, q)
	writeEarlierChecks(&b, q)
	writeRemarks(&b, q)
	return b.String()
}

// writeDecisions lists the continuations of tasks that reached thresholds, one per line.
func writeDecisions(b *strings.Builder, q RunQuality) {
	head := "\n## Thresholds\n\n"
	for _, t := range q.Tasks {
		for _, d := range t.Decisions {
			fmt.Fprintf(b, "%s- %s: %s\n", head, escapeCell(string(cmp.Or(nexus.TaskID(d.Attempt), t.ID))), escapeCell(replan.DecisionText(d)))
			head = ""
		}
	}
}

// writeRemarks lists the remaining remarks.
func writeRemarks(b *strings.Builder, q RunQuality) {
	var lines []string
	for _, t := range q.Tasks {
		if t.Why != "" {
			lines = append(lines, fmt.Sprintf("- %s: %s", escapeCell(string(t.ID)), escapeCell(t.Why)))
		}
		found := slices.Clone(t.Remarks)
		for _, e := range t.Evidence {
			if e.Coverage == nil { // coverage has a section of its own
				found = append(found, e.Findings...)
			}
			if e.Hangs {
				lines = append(lines, fmt.Sprintf("- %s: %s: %s: %s", escapeCell(string(t.ID)), escapeCell(e.Gate), escapeCell(string(e.State)), escapeCell(e.Why)))
			}
		}
		for i, f := range found {
			if i == 20 {
				lines = append(lines, fmt.Sprintf("- %s: and %d more", escapeCell(string(t.ID)), len(found)-i))
				break
			}
			lines = append(lines, fmt.Sprintf("- %s: %s: %s", escapeCell(string(t.ID)), escapeCell(string(cmp.Or(f.Severity, nexus.Major))), escapeCell(view.FindingText(f))))
		}
	}
	if len(lines) > 0 {
		b.WriteString("\n## To look at\n\n" + strings.Join(lines, "\n") + "\n")
	}
}

// escapeCell escapes a text within Markdown.
func escapeCell(s string) string { return view.EscapeMarkdown(s) }
