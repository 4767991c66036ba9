package traceability

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ran returns a run of a goal with one task for each statement, the first of which landed and were shown.
func ran(t *testing.T, id nexus.RunID, goal string, landed int, lands, ended bool) PastRun {
	t.Helper()
	s := state.NewState(id)
	all := spec.StatementsOf(goal)
	facts := []nexus.Fact{nexus.GoalAccepted{Goal: nexus.Goal{Text: goal}, Base: "c0", Limits: nexus.DefaultLimits()}, nexus.RunStarted{}, nexus.PlanProposed{Tasks: len(all)}}
	var rows []accept.CriterionRow
	for i, one := range all {
		task := nexus.TaskID(fmt.Sprintf("T%d", i+1))
		facts = append(facts, nexus.TaskPlanned{Task: nexus.Task{ID: task, Title: one.Text, Covers: []string{one.ID}, Criteria: []nexus.Criterion{{Text: "shows " + one.Text}}}})
		row := accept.CriterionRow{ID: accept.CriterionID(task, 1), Task: task, Criterion: "shows " + one.Text}
		if i < landed {
			row.State = accept.Met
		}
		rows = append(rows, row)
	}
	facts = append(facts, nexus.PlanApproved{})
	if ended {
		facts = append(facts, nexus.RunEnded{Status: nexus.StatusPartial})
	}
	for i, f := range facts {
		if err := s.Apply(nexus.Event{Seq: int64(i + 1), Run: id, At: time.Unix(int64(i), 0), Fact: f}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range landed {
		s.Tasks[i].Status, s.Tasks[i].Landed = nexus.Landed, &nexus.LandingCompleted{Commit: "c1"}
	}
	return PastRun{State: s, Criteria: rows, Lands: lands}
}

const (
	notes = "# Notes\n## Requirements\n- REQ-1 (must): It reads\n- REQ-2: It writes\n## Acceptance Criteria\n- [ ] AC-1 (REQ-2): a file is there (check: `test -e a`)\n## Technical Notes\n- Use Go.\n"
	road  = "# R\n## One\nWhy.\n\nTag: v1\n\n- spec: notes\n- goal: Say hello\n- [ ] AC-1: it starts (check: `sh start.sh`)\n- [ ] AC-2: it looks right\n"
)

// missing draws what a milestone lacks.
func missing(p MilestoneProgress) (all []string) {
	for _, one := range p.Missing() {
		text := one.Name + ": " + one.Why + " -> " + one.Next
		if one.Work {
			text += " (work)"
		}
		all = append(all, text)
	}
	return all
}

func firstMilestone(t *testing.T, text string) spec.Milestone {
	t.Helper()
	r, problems := spec.ReadRoadmap([]byte(text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return r.Milestones[0]
}

func TestMilestone(t *testing.T) {
	green := map[string]nexus.GateEvidence{"sh start.sh": {State: nexus.Pass, Tree: "t"}}
	as := func(s nexus.GateState) map[string]nexus.GateEvidence {
		return map[string]nexus.GateEvidence{"sh start.sh": {State: s, Tree: "t", Exit: 7, Why: map[bool]string{true: "no tool"}[s == nexus.Environmental]}}
	}
	accepted := strings.Replace(road, "looks right\n", "looks right\n  - accepted: 2026-01-02 by Ada: seen\n", 1)
	gap := "# One\n## Requirements\n- REQ-1: It writes\n- REQ-2: Say hello\n## Acceptance Criteria\n- AC-1: a file is there (check: `test -e a`)\n- AC-2: it looks right\n"
	for _, c := range []struct {
		name, road string
		past       []PastRun
		evidence   map[string]nexus.GateEvidence
		want       []string
	}{
		{"nothing", road, nil, nil, []string{
			"notes REQ-1: no run has planned it -> nexus run --milestone one (work)", "notes REQ-2: no run has planned it -> nexus run --milestone one (work)",
			"notes AC-1: no run has planned it -> nexus run --milestone one (work)", "goal 1: no run has planned it -> nexus run --milestone one (work)",
			"AC-1: its check did not run on abc -> nexus spec --roadmap one",
			"AC-2: no command shows it, no run landed it, and no person accepted it -> write [x] in front of it in .nexus/roadmap.md, if you saw it; or nexus run --milestone one (work)",
		}},
		{"all", accepted, []PastRun{ran(t, "r2", "Say  hello", 1, true, true), ran(t, "r1", notes, 3, true, true)}, green, nil},
		{"a gap run", road, []PastRun{ran(t, "r2", gap, 4, true, true), ran(t, "r1", notes, 1, true, true)}, green, nil},
		{"a gap run elsewhere", road, []PastRun{ran(t, "r2", gap, 4, false, true), ran(t, "r1", notes, 1, true, true)}, green, []string{
			"notes REQ-2: it landed, but not on main -> nexus land r2", "notes AC-1: it landed, but not on main -> nexus land r2",
			"goal 1: it landed, but not on main -> nexus land r2", "AC-2: it landed, but not on main -> nexus land r2",
		}},
		{"a gap run in progress", accepted, []PastRun{ran(t, "r2", gap, 2, true, false), ran(t, "r1", notes, 1, true, true)}, green, []string{
			"notes AC-1: T3 is pending -> nexus resume r2",
		}},
		{"parked", accepted, []PastRun{ran(t, "r2", "Say hello", 1, true, true), ran(t, "r1", notes, 2, true, true)}, green, []string{
			"notes AC-1: T3 is pending -> nexus run --milestone one (work)",
		}},
		{"changed", accepted, []PastRun{ran(t, "r2", "Say hello", 1, true, true), ran(t, "r1", strings.Replace(notes, "It reads", "It reads all", 1), 3, true, true)}, green, []string{
			"notes REQ-1: it was changed since run r1 -> nexus run --milestone one (work)",
		}},
		{"elsewhere", accepted, []PastRun{ran(t, "r2", "Say hello", 1, false, true), ran(t, "r1", notes, 3, true, true)}, green, []string{
			"goal 1: it landed, but not on main -> nexus land r2",
		}},
		{"a check fails", accepted, []PastRun{ran(t, "r2", "Say hello", 1, true, true), ran(t, "r1", notes, 3, true, true)}, as(nexus.Fail), []string{
			"AC-1: its check fails: exit 7 -> nexus run --milestone one (work)",
		}},
		{"a check says nothing", accepted, []PastRun{ran(t, "r2", "Say hello", 1, true, true), ran(t, "r1", notes, 3, true, true)}, as(nexus.Environmental), []string{
			"AC-1: environmental: no tool -> nexus spec --roadmap one",
		}},
		{"a criterion of a task", strings.Replace(road, "it looks right", "shows Say hello", 1), []PastRun{ran(t, "r2", "Say hello", 1, true, true), ran(t, "r1", notes, 3, true, true)}, green, nil},
		{"another text was accepted", strings.Replace(accepted, "by Ada:", "by Ada of 000000000000:", 1), []PastRun{ran(t, "r2", "Say hello", 1, true, true), ran(t, "r1", notes, 3, true, true)}, green, []string{
			"AC-2: Ada accepted an earlier text of it -> write [x] in front of it in .nexus/roadmap.md, if you saw it; or nexus run --milestone one (work)",
		}},
		{"no spec", "# R\n## One\n- spec: nots\n", nil, nil, []string{"nots: the spec is not written yet; is it notes? -> nexus spec GOAL --name nots"}},
		{"empty", "# R\n## One\n", nil, nil, []string{"one: it names no spec, no goal and no criterion, so nothing shows that it is reached -> edit .nexus/roadmap.md"}},
	} {
		k := MilestoneFacts{Branch: "main", Commit: "abc", Specs: map[string]string{"notes": notes}, Past: c.past, Evidence: c.evidence}
		got := TraceMilestone(firstMilestone(t, c.road), k)
		if diff := cmp.Diff(c.want, missing(got)); diff != "" || (len(c.want) == 0) != (got.State == MilestoneReached) {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
	}
	k := MilestoneFacts{Branch: "main", Commit: "abc"}
	only := firstMilestone(t, "# R\n## One\n- [ ] AC-1: it starts (check: `sh start.sh`)\n- [x] AC-2: it looks right\n")
	if got := TraceMilestone(only, k); got.State != MilestoneUnchecked || len(got.Missing()) != 1 {
		t.Errorf("%+v", got)
	}
	k.Evidence = as(nexus.Fail)
	if got := TraceMilestone(only, k); got.State != MilestoneOpen {
		t.Errorf("%+v", got)
	}
}

// What is missing is a goal, in the words of those who want it.
func TestMissing(t *testing.T) {
	specs := map[string]string{
		"notes": notes,
		"other": "# Other\n## Requirements\n- REQ-1: It sends\n- REQ-2 (wont): It faxes\n## Acceptance Criteria\n- AC-1: it is sent\n## Later\n- REQ-3: It prints\n",
	}
	both := strings.Replace(road, "- spec: notes\n", "- spec: notes\n- spec: other\n", 1)
	m := firstMilestone(t, both)
	k := MilestoneFacts{Branch: "main", Specs: specs, Past: []PastRun{ran(t, "r1", notes, 2, true, true)}, Evidence: map[string]nexus.GateEvidence{"sh start.sh": {State: nexus.Fail, Tree: "t"}}}
	got, ok := TraceMilestone(m, k).MissingSpec(specs)
	want := `# One

## Problem

Why.

This is what the milestone still lacks. What it has already is in the repository.

## Requirements

- REQ-2: It writes
- REQ-1: It sends
- REQ-3 (must): Say hello

## Acceptance Criteria

- [ ] AC-1 (REQ-2): a file is there (check: ` + "`test -e a`" + `)
- [ ] AC-2 (REQ-1): it is sent
- [ ] AC-3: it starts (check: ` + "`sh start.sh`" + `)
- [ ] AC-4: it looks right

## Technical Notes

- Use Go.
`
	if diff := cmp.Diff(want, string(spec.FormatMarkdown(got))); diff != "" || !ok {
		t.Errorf("%v (-want +got)\n%s", ok, diff)
	}
	if _, problems := spec.ReadSpec(spec.FormatMarkdown(got)); len(problems) > 0 {
		t.Error(problems)
	}
	k.Past = []PastRun{ran(t, "r2", "Say hello", 1, true, true), ran(t, "r1", notes, 3, true, true)}
	only := firstMilestone(t, strings.Replace(road, "- [ ] AC-2: it looks right\n", "", 1))
	got, ok = TraceMilestone(only, k).MissingSpec(specs)
	if !ok || len(got.Requirements) != 1 || got.Requirements[0].Text != "it starts" || got.Criteria[0].Check != "sh start.sh" {
		t.Errorf("%v %+v", ok, got)
	}
	k.Evidence = nil
	if got, ok := TraceMilestone(only, k).MissingSpec(specs); ok {
		t.Errorf("nothing that a run could do, and %+v", got)
	}
}
