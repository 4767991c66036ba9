package roadmap

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view/trace"
)

// AuditFacts are the data with which a milestone is compared.
type AuditFacts struct {
	Branch string            // branch on which it must be reached
	Commit string            // its tip
	Specs  map[string]string // their texts, by name
	Past   []trace.PastRun   // runs, the newest first
	// evidence on the tip, by the check of a criterion; missing: it did not run there
	Evidence map[string]nexus.Evidence
	Tags     map[string]string // commits of existing tags, among those of closed milestones
}

// MilestoneAudit is the list of a milestone's gaps on the tip of a branch.
type MilestoneAudit struct {
	Milestone

	Branch string            `json:"branch"`
	Commit string            `json:"commit"`
	Shows  []CriterionStatus `json:"shows"`  // one for each criterion
	Traces []SpecTrace       `json:"traces"` // one for each spec
	Aims   []GoalStatus      `json:"aims"`   // one for each goal
	Gaps   []AuditGap        `json:"gaps"`
}

// CriterionStatus is a criterion with its evidence.
type CriterionStatus struct {
	ID    string                `json:"id"`
	Text  string                `json:"text"`
	Check string                `json:"check,omitzero"`
	State accept.CriterionState `json:"state"`
	By    string                `json:"by,omitzero"`  // evidence, in words
	Why   string                `json:"why,omitzero"` // why it is not met
}

// SpecTrace is the progress of a spec.
type SpecTrace struct {
	Spec     string `json:"spec"`
	Verified int    `json:"verified"`
	Of       int    `json:"of"` // statements that ask for work now

	trace.StatementTrace
}

// GoalStatus is a goal with the run that landed it.
type GoalStatus struct {
	Text  string               `json:"text"`
	Run   nexus.RunID          `json:"run,omitzero"`
	Why   string               `json:"why,omitzero"` // why it is not reached; empty: it is reached
	Stage trace.StatementStage `json:"stage"`
}

// AuditGap is a missing part, and the command to continue with.
type AuditGap struct {
	What string `json:"what"` // "AC-2", "login REQ-1", "goal 1"
	Text string `json:"text"` // its text
	Why  string `json:"why"`
	Do   string `json:"do"`            // the command to continue with
	Work bool   `json:"work"`          // a run could close it
	Spec string `json:"spec,omitzero"` // spec of the statement
	// of the statement or criterion; empty: it is a goal, or the milestone itself
	ID  string      `json:"id,omitzero"`
	Run nexus.RunID `json:"run,omitzero"` // run from which it is known
}

// CountShown returns the number of criteria with evidence.
func (a MilestoneAudit) CountShown() (n int) {
	for _, c := range a.Shows {
		if c.State == accept.Met {
			n++
		}
	}
	return n
}

// CountVerified returns the number of verified requirements and goals, and the total number.
func (a MilestoneAudit) CountVerified() (n, of int) {
	for _, t := range a.Traces {
		n, of = n+t.Verified, of+t.Of
	}
	for _, g := range a.Aims {
		if of++; g.Why == "" {
			n++
		}
	}
	return n, of
}

// rerunCommand returns the command to continue with if work is needed.
func rerunCommand(name string) string { return "nexus milestone run " + name }

// AuditMilestone compares a milestone with the known data.
func AuditMilestone(m Milestone, k AuditFacts) MilestoneAudit {
	a := MilestoneAudit{Milestone: m, Branch: k.Branch, Commit: k.Commit, Shows: []CriterionStatus{}, Traces: []SpecTrace{}, Aims: []GoalStatus{}, Gaps: []AuditGap{}}
	if m.Closed != nil {
		a.checkClosed(k)
		return a
	}
	for _, s := range m.Specs {
		a.auditSpec(s.Text, k)
	}
	for i, g := range m.Goals {
		a.auditGoal(i+1, g.Text, k)
	}
	for _, c := range m.Criteria {
		a.auditCriterion(c, k)
	}
	if len(m.Specs)+len(m.Goals)+len(m.Criteria) == 0 {
		a.Gaps = append(a.Gaps, AuditGap{
			What: m.Name, Text: m.Title, Do: "edit " + File,
			Why: "it names no spec, no goal and no criterion, so nothing shows that it is reached",
		})
	}
	return a
}

// checkClosed checks a closed milestone against its tag.
func (a *MilestoneAudit) checkClosed(k AuditFacts) {
	c := a.Closed
	switch is := k.Tags[c.Tag]; is {
	case c.Commit:
	case "":
		a.Gaps = append(a.Gaps, AuditGap{What: c.Tag, Text: a.Title, Why: "the tag is not in this repository", Do: "git fetch --tags"})
	default:
		a.Gaps = append(a.Gaps, AuditGap{
			What: c.Tag, Text: a.Title, Do: "git show " + c.Tag,
			Why: fmt.Sprintf("the tag is at %.10s, and the milestone was closed at %.10s", is, c.Commit),
		})
	}
}

func (a *MilestoneAudit) auditSpec(name string, k AuditFacts) {
	text, written := k.Specs[name]
	if !written {
		why := "the spec is not written yet"
		if near := spec.NearestWord(name, slices.Sorted(maps.Keys(k.Specs))); near != "" {
			why += "; is it " + near + "?"
		}
		a.Gaps = append(a.Gaps, AuditGap{What: name, Text: name, Why: why, Do: "nexus spec GOAL --name " + name, Spec: name})
		return
	}
	t := trace.TraceSpec(text, k.Branch, k.Past)
	one := SpecTrace{Spec: name, StatementTrace: t}
	for _, r := range t.Rows {
		if r.Later || !r.Asks {
			continue
		}
		if one.Of++; r.Gap == "" {
			one.Verified++
			continue
		}
		do, work := k.nextCommand(t.RunOf(r), r, a.Name)
		a.Gaps = append(a.Gaps, AuditGap{
			What: name + " " + r.ID, Text: r.Text, Why: r.Gap, Do: do, Work: work, Spec: name, ID: r.ID, Run: t.RunOf(r),
		})
	}
	if t.Why != "" {
		a.Gaps = append(a.Gaps, AuditGap{What: name, Text: t.Title, Why: t.Why, Do: "edit .nexus/specs/" + name + ".md", Spec: name})
	}
	a.Traces = append(a.Traces, one)
}

// nextCommand returns the command to continue with for a statement with a gap, and whether it is a
// run of its own.
func (k AuditFacts) nextCommand(run nexus.RunID, r trace.StatementRow, name string) (do string, work bool) {
	if do := k.continueCommand(run, r); do != "" {
		return do, false
	}
	unmet := slices.ContainsFunc(r.Criteria, func(c trace.ShowingCriterion) bool { return c.State == accept.Unmet })
	if run != "" && r.Stage == trace.Implemented && !unmet {
		return "nexus verify " + string(run), false
	}
	return rerunCommand(name), true
}

// continueCommand returns the command for a run that works on a statement, or has landed it
// elsewhere, or "".
func (k AuditFacts) continueCommand(run nexus.RunID, r trace.StatementRow) string {
	i := slices.IndexFunc(k.Past, func(p trace.PastRun) bool { return p.State.Run == run })
	switch {
	case i < 0:
		return ""
	case strings.HasPrefix(r.Gap, trace.Elsewhere):
		return "nexus land " + string(run)
	case r.Gap != "" && !k.Past[i].State.Status.HasEnded() && k.Past[i].State.Planned && len(r.Tasks) > 0:
		return "nexus resume " + string(run)
	default:
		return ""
	}
}

// auditGoal finds the run that landed a goal: a run with this goal, or with a goal that contains
// it.
func (a *MilestoneAudit) auditGoal(n int, text string, k AuditFacts) {
	aim := GoalStatus{Text: text, Stage: trace.Captured, Why: "no run has planned it"}
	do, work := rerunCommand(a.Name), true
	for _, p := range k.Past {
		if spec.SingleLine(p.State.Goal.Goal.Text) != spec.SingleLine(text) || len(p.State.Tasks) == 0 {
			continue
		}
		t := trace.TraceGoal(text, p.State, p.Criteria)
		if !p.Lands {
			t.MarkElsewhere(k.Branch)
		}
		aim.Run, aim.Why, aim.Stage = p.State.Run, t.Why, trace.Verified
		for _, r := range t.Rows {
			if r.Gap != "" && aim.Why == "" {
				aim.Why, aim.Stage = r.Gap, r.Stage
				do, work = k.nextCommand(p.State.Run, r, a.Name)
			}
		}
		break
	}
	if row, ok := trace.BestRow(trace.StatementKey{Text: text}, k.Branch, k.Past); ok && aim.Why != "" && (row.Gap == "" || aim.Run == "") {
		aim.Run, aim.Why, aim.Stage = row.Run, row.Gap, row.Stage
		do, work = k.nextCommand(row.Run, row, a.Name)
	}
	if a.Aims = append(a.Aims, aim); aim.Why != "" {
		what := fmt.Sprintf("goal %d", n)
		a.Gaps = append(a.Gaps, AuditGap{What: what, Text: text, Why: aim.Why, Do: do, Work: work, Run: aim.Run})
	}
}

func (a *MilestoneAudit) auditCriterion(c MilestoneCriterion, k AuditFacts) {
	s := CriterionStatus{ID: c.ID, Text: c.Text, Check: c.Check, State: accept.Unknown}
	g := AuditGap{What: c.ID, Text: c.Text, ID: c.ID, Do: rerunCommand(a.Name)}
	if c.Check != "" {
		g.Work = s.applyCheck(c, k)
		row, _ := trace.BestRow(trace.StatementKey{Text: c.Text, Check: c.Check}, k.Branch, k.Past)
		do := k.continueCommand(row.Run, row)
		switch {
		case !g.Work:
			g.Do = "nexus milestone audit " + a.Name
		case do != "":
			g.Do, g.Work, g.Run = do, false, row.Run
		}
	} else {
		g.Do, g.Work = fmt.Sprintf("nexus milestone accept %s %s --reason WHAT-YOU-SAW", a.Name, c.ID), true
		if row, ok := s.findEvidence(c, k); ok {
			g.Run = row.Run
			if do, work := k.nextCommand(row.Run, row, a.Name); !work {
				g.Do, g.Work = do, false
			}
		}
	}
	if a.Shows = append(a.Shows, s); s.State != accept.Met {
		g.Why = s.Why
		a.Gaps = append(a.Gaps, g)
	}
}

// applyCheck fills in a check's result on the tip, and reports whether work is needed.
func (s *CriterionStatus) applyCheck(c MilestoneCriterion, k AuditFacts) (work bool) {
	e, ok := k.Evidence[c.Check]
	switch {
	case !ok:
		s.Why = fmt.Sprintf("its check did not run on %.10s", k.Commit)
		return false
	case e.Passed():
		s.State, s.By = accept.Met, "its check passes"
		return false
	case e.State.IsRed() && (e.State != nexus.Timeout || !e.Hangs):
		s.State = accept.Unmet
		s.Why = cmp.Or(e.Why, failureText(e))
		return true
	default:
		s.Why = fmt.Sprintf("%s: %s", e.State, cmp.Or(e.Why, "it gave no result"))
		return false
	}
}

func failureText(e nexus.Evidence) string {
	if len(e.Findings) == 0 {
		return fmt.Sprintf("its check fails: exit %d", e.Exit)
	}
	text, _, _ := strings.Cut(e.Findings[0].Message, "\n")
	return "its check fails: " + strings.TrimPrefix(e.Findings[0].Test+": "+text, ": ")
}

// findEvidence fills in the evidence for a criterion that no command can show: a person's
// approval, or landed and verified work of a run. Otherwise it returns a run's partial
// result.
func (s *CriterionStatus) findEvidence(c MilestoneCriterion, k AuditFacts) (row trace.StatementRow, under bool) {
	if p := c.Accepted; p != nil && (p.Of == "" || p.Of == c.TextFingerprint()) {
		s.State, s.By = accept.Met, fmt.Sprintf("accepted by %s on %s: %s", p.By, p.Date, p.Reason)
		return row, false
	}
	row, under = trace.BestRow(trace.StatementKey{Text: c.Text}, k.Branch, k.Past)
	if under && row.Gap == "" {
		s.State, s.By = accept.Met, "verified in run "+string(row.Run)
		return row, false
	}
	for _, p := range k.Past {
		for _, r := range p.Criteria {
			if p.Lands && r.State == accept.Met && spec.SingleLine(r.Criterion) == spec.SingleLine(c.Text) {
				s.State, s.By = accept.Met, fmt.Sprintf("%s of run %s", r.ID, p.State.Run)
				return row, false
			}
		}
	}
	s.Why = "no command shows it, no run landed it, and no person accepted it"
	switch {
	case c.Accepted != nil:
		s.Why = fmt.Sprintf("%s accepted an earlier text of it", c.Accepted.By)
	case under:
		s.Why = row.Gap
	}
	return row, under
}

// CountUnchecked returns the number of criteria with a check without a result on this commit.
func (a MilestoneAudit) CountUnchecked() (n int) {
	for _, c := range a.Shows {
		if c.Check != "" && c.State == accept.Unknown {
			n++
		}
	}
	return n
}
