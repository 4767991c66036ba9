package traceability

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// MilestoneFacts are the data from which the progress of a milestone is computed.
type MilestoneFacts struct {
	Branch   string                        // branch on which it must be reached
	Commit   string                        // its tip
	Specs    map[string]string             // their texts, by name
	Past     []PastRun                     // runs, the newest first
	Evidence map[string]nexus.GateEvidence // results of checks on the tip; missing: the check did not run there
}

// MilestoneState is how far a milestone is.
type MilestoneState string

// The states of a milestone.
const (
	MilestoneOpen      MilestoneState = "open"
	MilestoneUnchecked MilestoneState = "unchecked" // reached, if the checks pass that did not run
	MilestoneReached   MilestoneState = "reached"
	MilestoneTagged    MilestoneState = "tagged"
)

// MilestoneProgress is what is reached of a milestone, and what is missing.
type MilestoneProgress struct {
	Number int            `json:"number"`
	State  MilestoneState `json:"state"`
	spec.Milestone
	Branch string          `json:"branch"`
	Commit string          `json:"commit"` // of the tag, or the tip of the branch
	Parts  []MilestonePart `json:"parts"`
}

// MilestonePart is a requirement or criterion of a spec, a goal, or a criterion of the milestone.
type MilestonePart struct {
	Name  string      `json:"name"` // "AC-2", "login REQ-1", "goal 1"
	Text  string      `json:"text"`
	Check string      `json:"check,omitzero"`
	Run   nexus.RunID `json:"run,omitzero"`
	By    string      `json:"by,omitzero"`   // what shows that it is reached, in words
	Why   string      `json:"why,omitzero"`  // why it is not reached; empty: it is
	Next  string      `json:"next,omitzero"` // the command to continue with
	Work  bool        `json:"work"`          // a run could reach it

	spec, id  string // spec and id of a statement; id of a criterion
	unchecked bool
}

// Missing returns the parts that are not reached.
func (p MilestoneProgress) Missing() []MilestonePart {
	return slices.DeleteFunc(slices.Clone(p.Parts), func(one MilestonePart) bool { return one.Why == "" })
}

// TraceMilestone computes the progress of a milestone that is not tagged.
func TraceMilestone(m spec.Milestone, k MilestoneFacts) MilestoneProgress {
	p := MilestoneProgress{Milestone: m, Branch: k.Branch, Commit: k.Commit, Parts: []MilestonePart{}}
	for _, name := range m.Specs {
		p.addSpec(name, k)
	}
	for i, text := range m.Goals {
		p.Parts = append(p.Parts, k.goalPart(m, i+1, text))
	}
	for _, c := range m.Criteria {
		p.Parts = append(p.Parts, k.criterionPart(m, c))
	}
	if len(p.Parts) == 0 {
		p.Parts = append(p.Parts, MilestonePart{
			Name: m.Name, Text: m.Title, Next: "edit " + spec.RoadmapFile,
			Why: "it names no spec, no goal and no criterion, so nothing shows that it is reached",
		})
	}
	missing := p.Missing()
	switch {
	case len(missing) == 0:
		p.State = MilestoneReached
	case !slices.ContainsFunc(missing, func(one MilestonePart) bool { return !one.unchecked }):
		p.State = MilestoneUnchecked
	default:
		p.State = MilestoneOpen
	}
	return p
}

// runCommand returns the command to continue with if work is needed.
func runCommand(m spec.Milestone) string { return "nexus run --milestone " + m.Name }

func (p *MilestoneProgress) addSpec(name string, k MilestoneFacts) {
	text, written := k.Specs[name]
	if !written {
		why := "the spec is not written yet"
		if near := spec.NearestWord(name, slices.Sorted(maps.Keys(k.Specs))); near != "" {
			why += "; is it " + near + "?"
		}
		p.Parts = append(p.Parts, MilestonePart{Name: name, Text: name, Why: why, Next: "nexus spec GOAL --name " + name, spec: name})
		return
	}
	t := TraceSpec(text, k.Branch, k.Past)
	for _, r := range t.Rows {
		if r.Later || !r.Asks {
			continue
		}
		one := MilestonePart{Name: name + " " + r.ID, Text: r.Text, Why: r.Gap, Run: t.RunOfStatement(r), spec: name, id: r.ID}
		if one.Why != "" {
			one.Next, one.Work = k.nextCommand(one.Run, r, p.Milestone)
		} else {
			one.By = strings.TrimSpace("verified in run " + string(one.Run))
		}
		p.Parts = append(p.Parts, one)
	}
	if t.Why != "" {
		p.Parts = append(p.Parts, MilestonePart{Name: name, Text: t.Title, Why: t.Why, Next: "edit .nexus/specs/" + name + ".md", spec: name})
	}
}

// nextCommand returns the command to continue with for a statement with a gap, and whether it starts a
// run of its own.
func (k MilestoneFacts) nextCommand(run nexus.RunID, r StatementProgress, m spec.Milestone) (command string, work bool) {
	if command := k.continueCommand(run, r); command != "" {
		return command, false
	}
	unmet := slices.ContainsFunc(r.Criteria, func(c StatementCriterion) bool { return c.State == accept.Unmet })
	if run != "" && r.Stage == Implemented && !unmet {
		return "nexus verify " + string(run), false
	}
	return runCommand(m), true
}

// continueCommand returns the command for a run that works on a statement, or has landed it
// elsewhere, or "".
func (k MilestoneFacts) continueCommand(run nexus.RunID, r StatementProgress) string {
	i := slices.IndexFunc(k.Past, func(p PastRun) bool { return p.State.Run == run })
	switch {
	case i < 0:
		return ""
	case strings.HasPrefix(r.Gap, Elsewhere):
		return "nexus land " + string(run)
	case r.Gap != "" && !k.Past[i].State.Status.HasEnded() && k.Past[i].State.Planned && len(r.Tasks) > 0:
		return "nexus resume " + string(run)
	default:
		return ""
	}
}

// goalPart finds the run that landed a goal: a run with this goal, or with a goal that contains it.
func (k MilestoneFacts) goalPart(m spec.Milestone, n int, text string) MilestonePart {
	one := MilestonePart{Name: fmt.Sprintf("goal %d", n), Text: text, Why: "no run has planned it", Next: runCommand(m), Work: true}
	for _, p := range k.Past {
		if spec.SingleLine(p.State.Goal.Goal.Text) != text || len(p.State.Tasks) == 0 {
			continue
		}
		t := TraceGoal(text, p.State, p.Criteria)
		if !p.Lands {
			t.MarkVerifiedOnOtherBranch(k.Branch)
		}
		one.Run, one.Why = p.State.Run, t.Why
		for _, r := range t.Rows {
			if r.Gap != "" && one.Why == "" {
				one.Why = r.Gap
				one.Next, one.Work = k.nextCommand(one.Run, r, m)
			}
		}
		break
	}
	if row, ok := BestStatementProgress(StatementKey{Text: text}, k.Branch, k.Past); ok && one.Why != "" && (row.Gap == "" || one.Run == "") {
		one.Run, one.Why = row.Run, row.Gap
		one.Next, one.Work = k.nextCommand(row.Run, row, m)
	}
	if one.Why == "" {
		one.Next, one.Work, one.By = "", false, "verified in run "+string(one.Run)
	}
	return one
}

func (k MilestoneFacts) criterionPart(m spec.Milestone, c spec.MilestoneCriterion) MilestonePart {
	one := MilestonePart{Name: c.ID, Text: c.Text, Check: c.Check, Next: runCommand(m), id: c.ID}
	if c.Check == "" {
		k.findEvidence(&one, m, c)
		return one
	}
	one.Work = k.applyCheck(&one)
	row, _ := BestStatementProgress(StatementKey{Text: c.Text, Check: c.Check}, k.Branch, k.Past)
	command := k.continueCommand(row.Run, row)
	switch {
	case one.Why == "":
		one.Next = ""
	case !one.Work:
		one.Next = "nexus spec --roadmap " + m.Name
	case command != "":
		one.Next, one.Work, one.Run = command, false, row.Run
	}
	return one
}

// applyCheck fills in a check's result on the tip, and reports whether work is needed.
func (k MilestoneFacts) applyCheck(one *MilestonePart) (work bool) {
	e, ok := k.Evidence[one.Check]
	switch {
	case !ok:
		one.Why, one.unchecked = fmt.Sprintf("its check did not run on %.10s", k.Commit), true
	case e.Passed():
		one.By = "its check passes: " + one.Check
	case e.State.IsRed() && (e.State != nexus.Timeout || !e.Hangs):
		one.Why = cmp.Or(e.Why, failureText(e))
		return true
	default:
		one.Why = fmt.Sprintf("%s: %s", e.State, cmp.Or(e.Why, "it gave no result"))
	}
	return false
}

func failureText(e nexus.GateEvidence) string {
	if len(e.Findings) == 0 {
		return fmt.Sprintf("its check fails: exit %d", e.Exit)
	}
	text, _, _ := strings.Cut(e.Findings[0].Message, "\n")
	return "its check fails: " + strings.TrimPrefix(e.Findings[0].Test+": "+text, ": ")
}

// findEvidence fills in the evidence for a criterion that no command can show: a person's
// acceptance, or landed and verified work of a run.
func (k MilestoneFacts) findEvidence(one *MilestonePart, m spec.Milestone, c spec.MilestoneCriterion) {
	if c.Accepted != "" {
		one.By, one.Next = c.Accepted, ""
		return
	}
	row, planned := BestStatementProgress(StatementKey{Text: c.Text}, k.Branch, k.Past)
	if planned && row.Gap == "" {
		one.By, one.Run, one.Next = "verified in run "+string(row.Run), row.Run, ""
		return
	}
	for _, p := range k.Past {
		for _, r := range p.Criteria {
			if p.Lands && r.State == accept.Met && spec.SingleLine(r.Criterion) == spec.SingleLine(c.Text) {
				one.By, one.Run, one.Next = fmt.Sprintf("%s of run %s", r.ID, p.State.Run), p.State.Run, ""
				return
			}
		}
	}
	one.Work, one.Next = true, "write [x] in front of it in "+spec.RoadmapFile+", if you saw it; or "+one.Next
	switch {
	case c.Earlier != "":
		one.Why = c.Earlier + " accepted an earlier text of it"
	case planned:
		one.Why, one.Run = row.Gap, row.Run
		if command, work := k.nextCommand(row.Run, row, m); !work {
			one.Next, one.Work = command, false
		}
	default:
		one.Why = "no command shows it, no run landed it, and no person accepted it"
	}
}

// MissingSpec returns a spec of what is missing and a run could reach: the requirements and criteria
// of the milestone's specs in their own words, its goals as requirements, and its own criteria.
// It returns false if there is nothing.
func (p MilestoneProgress) MissingSpec(specs map[string]string) (spec.Spec, bool) {
	w := specBuilder{used: map[string]bool{}}
	w.Title = p.Title
	w.Problem = strings.TrimSpace(p.About + "\n\nThis is what the milestone still lacks. What it has already is in the repository.")
	work := slices.DeleteFunc(p.Missing(), func(one MilestonePart) bool { return !one.Work })
	for _, name := range p.Specs {
		w.addSpec(name, specs[name], work)
	}
	for _, one := range work {
		if one.spec == "" && one.id == "" {
			w.addRequirement(nexus.Requirement{Text: one.Text, Priority: nexus.Must})
		}
	}
	others := len(w.Requirements) > 0
	for _, one := range work {
		if one.spec != "" || one.id == "" {
			continue
		}
		c := spec.SpecCriterion{ID: one.id, Text: one.Text, Check: one.Check}
		if !others {
			c.Of = []string{w.addRequirement(nexus.Requirement{Text: one.Text, Priority: nexus.Must})}
		}
		w.addCriterion(c)
	}
	return w.Spec, len(w.Requirements) > 0
}
