package roadmap

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/decide/trace"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// AuditFacts is what a milestone is held against.
type AuditFacts struct {
	Branch   string                    // that it has to be reached on
	Commit   string                    // its tip
	Specs    map[string]string         // their texts, by name
	Past     []trace.PastRun           // runs, the newest first
	Evidence map[string]nexus.Evidence // of the tip, by the check of a criterion; none: it did not run there
	Tags     map[string]string         // commits of tags that are there, of those that closed milestones have
}

// Audit is what a milestone lacks on the tip of a branch.
type Audit struct {
	Milestone

	Branch string            `json:"branch"`
	Commit string            `json:"commit"`
	Shows  []CriterionStatus `json:"shows"`  // a criterion each
	Traces []Trace           `json:"traces"` // a spec each
	Aims   []Goal            `json:"aims"`   // a goal each
	Gaps   []Gap             `json:"gaps"`
}

// CriterionStatus is a criterion with what shows it.
type CriterionStatus struct {
	ID    string       `json:"id"`
	Text  string       `json:"text"`
	Check string       `json:"check,omitzero"`
	State accept.State `json:"state"`
	By    string       `json:"by,omitzero"`  // what shows it, in words
	Why   string       `json:"why,omitzero"` // why it is not met
}

// Trace is how far a spec has come.
type Trace struct {
	Spec     string `json:"spec"`
	Verified int    `json:"verified"`
	Of       int    `json:"of"` // statements that ask for something now

	trace.Trace
}

// Goal is a goal with the run that landed it.
type Goal struct {
	Text  string      `json:"text"`
	Run   nexus.RunID `json:"run,omitzero"`
	Why   string      `json:"why,omitzero"` // why it is not reached; empty: it is
	Stage trace.Stage `json:"stage"`
}

// Gap is one thing that is missing, and how to go on.
type Gap struct {
	What string      `json:"what"` // "AC-2", "login REQ-1", "goal 1"
	Text string      `json:"text"` // what it says
	Why  string      `json:"why"`
	Do   string      `json:"do"`            // the command that goes on
	Work bool        `json:"work"`          // a run could close it
	Spec string      `json:"spec,omitzero"` // whose statement it is
	ID   string      `json:"id,omitzero"`   // of the statement or criterion; empty: it is a goal, or the milestone itself
	Run  nexus.RunID `json:"run,omitzero"`  // that it is known from
}

// Shown returns how many criteria are shown.
func (a Audit) Shown() (n int) {
	for _, c := range a.Shows {
		if c.State == accept.Met {
			n++
		}
	}
	return n
}

// Verified returns how many requirements and goals are verified, and how many there are.
func (a Audit) Verified() (n, of int) {
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

// again is the command that goes on where work is needed.
func again(name string) string { return "nexus milestone run " + name }

// AuditMilestone holds a milestone against what is known.
func AuditMilestone(m Milestone, k AuditFacts) Audit {
	a := Audit{Milestone: m, Branch: k.Branch, Commit: k.Commit, Shows: []CriterionStatus{}, Traces: []Trace{}, Aims: []Goal{}, Gaps: []Gap{}}
	if m.Closed != nil {
		a.kept(k)
		return a
	}
	for _, s := range m.Specs {
		a.spec(s.Text, k)
	}
	for i, g := range m.Goals {
		a.goal(i+1, g.Text, k)
	}
	for _, c := range m.Criteria {
		a.criterion(c, k)
	}
	if len(m.Specs)+len(m.Goals)+len(m.Criteria) == 0 {
		a.Gaps = append(a.Gaps, Gap{
			What: m.Name, Text: m.Title, Do: "edit " + File,
			Why: "it names no spec, no goal and no criterion, so nothing shows that it is reached",
		})
	}
	return a
}

// kept holds a milestone that is closed against its tag.
func (a *Audit) kept(k AuditFacts) {
	c := a.Closed
	switch is := k.Tags[c.Tag]; is {
	case c.Commit:
	case "":
		a.Gaps = append(a.Gaps, Gap{What: c.Tag, Text: a.Title, Why: "the tag is not in this repository", Do: "git fetch --tags"})
	default:
		a.Gaps = append(a.Gaps, Gap{
			What: c.Tag, Text: a.Title, Do: "git show " + c.Tag,
			Why: fmt.Sprintf("the tag is at %.10s, and the milestone was closed at %.10s", is, c.Commit),
		})
	}
}

func (a *Audit) spec(name string, k AuditFacts) {
	text, written := k.Specs[name]
	if !written {
		why := "the spec is not written yet"
		if near := spec.Nearest(name, slices.Sorted(maps.Keys(k.Specs))); near != "" {
			why += "; is it " + near + "?"
		}
		a.Gaps = append(a.Gaps, Gap{What: name, Text: name, Why: why, Do: "nexus spec GOAL --name " + name, Spec: name})
		return
	}
	t := trace.TraceSpec(text, k.Branch, k.Past)
	one := Trace{Spec: name, Trace: t}
	for _, r := range t.Rows {
		if r.Later || !r.Asks {
			continue
		}
		if one.Of++; r.Gap == "" {
			one.Verified++
			continue
		}
		do, work := k.next(t.RunOf(r), r, a.Name)
		a.Gaps = append(a.Gaps, Gap{
			What: name + " " + r.ID, Text: r.Text, Why: r.Gap, Do: do, Work: work, Spec: name, ID: r.ID, Run: t.RunOf(r),
		})
	}
	if t.Why != "" {
		a.Gaps = append(a.Gaps, Gap{What: name, Text: t.Title, Why: t.Why, Do: "edit .nexus/specs/" + name + ".md", Spec: name})
	}
	a.Traces = append(a.Traces, one)
}

// next returns the command that goes on with a statement that has a gap, and whether it is a run of its own.
func (k AuditFacts) next(run nexus.RunID, r trace.Row, name string) (do string, work bool) {
	if do := k.underway(run, r); do != "" {
		return do, false
	}
	unmet := slices.ContainsFunc(r.Criteria, func(c trace.Criterion) bool { return c.State == accept.Unmet })
	if run != "" && r.Stage == trace.Implemented && !unmet {
		return "nexus verify " + string(run), false
	}
	return again(name), true
}

// underway returns the command that goes on with a run that works on a statement, or has landed it elsewhere; empty
// where none does.
func (k AuditFacts) underway(run nexus.RunID, r trace.Row) string {
	i := slices.IndexFunc(k.Past, func(p trace.PastRun) bool { return p.State.Run == run })
	switch {
	case i < 0:
		return ""
	case strings.HasPrefix(r.Gap, trace.Elsewhere):
		return "nexus land " + string(run)
	case r.Gap != "" && !k.Past[i].State.Status.Ended() && k.Past[i].State.Planned && len(r.Tasks) > 0:
		return "nexus resume " + string(run)
	default:
		return ""
	}
}

// goal finds the run that landed a goal: one whose goal it was, or one whose goal had it among others.
func (a *Audit) goal(n int, text string, k AuditFacts) {
	aim := Goal{Text: text, Stage: trace.Captured, Why: "no run has planned it"}
	do, work := again(a.Name), true
	for _, p := range k.Past {
		if spec.Line(p.State.Goal.Goal.Text) != spec.Line(text) || len(p.State.Tasks) == 0 {
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
				do, work = k.next(p.State.Run, r, a.Name)
			}
		}
		break
	}
	if row, ok := trace.BestRow(trace.StatementKey{Text: text}, k.Branch, k.Past); ok && aim.Why != "" && (row.Gap == "" || aim.Run == "") {
		aim.Run, aim.Why, aim.Stage = row.Run, row.Gap, row.Stage
		do, work = k.next(row.Run, row, a.Name)
	}
	if a.Aims = append(a.Aims, aim); aim.Why != "" {
		what := fmt.Sprintf("goal %d", n)
		a.Gaps = append(a.Gaps, Gap{What: what, Text: text, Why: aim.Why, Do: do, Work: work, Run: aim.Run})
	}
}

func (a *Audit) criterion(c Criterion, k AuditFacts) {
	s := CriterionStatus{ID: c.ID, Text: c.Text, Check: c.Check, State: accept.Unknown}
	g := Gap{What: c.ID, Text: c.Text, ID: c.ID, Do: again(a.Name)}
	if c.Check != "" {
		g.Work = s.applyCheck(c, k)
		row, _ := trace.BestRow(trace.StatementKey{Text: c.Text, Check: c.Check}, k.Branch, k.Past)
		do := k.underway(row.Run, row)
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
			if do, work := k.next(row.Run, row, a.Name); !work {
				g.Do, g.Work = do, false
			}
		}
	}
	if a.Shows = append(a.Shows, s); s.State != accept.Met {
		g.Why = s.Why
		a.Gaps = append(a.Gaps, g)
	}
}

// applyCheck says what a check found on the tip, and whether somebody has to work on it.
func (s *CriterionStatus) applyCheck(c Criterion, k AuditFacts) (work bool) {
	e, ok := k.Evidence[c.Check]
	switch {
	case !ok:
		s.Why = fmt.Sprintf("its check did not run on %.10s", k.Commit)
		return false
	case e.Passed():
		s.State, s.By = accept.Met, "its check passes"
		return false
	case e.State.Red() && (e.State != nexus.Timeout || !e.Hangs):
		s.State = accept.Unmet
		s.Why = cmp.Or(e.Why, first(e))
		return true
	default:
		s.Why = fmt.Sprintf("%s: %s", e.State, cmp.Or(e.Why, "it gave no result"))
		return false
	}
}

func first(e nexus.Evidence) string {
	if len(e.Findings) == 0 {
		return fmt.Sprintf("its check fails: exit %d", e.Exit)
	}
	text, _, _ := strings.Cut(e.Findings[0].Message, "\n")
	return "its check fails: " + strings.TrimPrefix(e.Findings[0].Test+": "+text, ": ")
}

// findEvidence says who or what shows a criterion that no command can: a person, or what a run landed and verified. It
// returns what a run made of it that did not come to that.
func (s *CriterionStatus) findEvidence(c Criterion, k AuditFacts) (row trace.Row, under bool) {
	if p := c.Accepted; p != nil && (p.Of == "" || p.Of == c.Fingerprint()) {
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
			if p.Lands && r.State == accept.Met && spec.Line(r.Criterion) == spec.Line(c.Text) {
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

// Unchecked returns how many criteria have a check of which nothing is known on this commit.
func (a Audit) Unchecked() (n int) {
	for _, c := range a.Shows {
		if c.Check != "" && c.State == accept.Unknown {
			n++
		}
	}
	return n
}
