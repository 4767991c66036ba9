package traceability

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// planned returns a run with a plan.
func planned(t *testing.T, goal string, cover *nexus.PlanCoverage, approved bool, tasks ...nexus.Task) *state.State {
	t.Helper()
	s := state.NewState("r1")
	facts := []nexus.Fact{nexus.GoalAccepted{Goal: nexus.Goal{Text: goal}, Base: "c0", Limits: nexus.DefaultLimits()}, nexus.RunStarted{}, nexus.PlanProposed{Tasks: len(tasks), Cover: cover}}
	for _, one := range tasks {
		facts = append(facts, nexus.TaskPlanned{Task: one})
	}
	if approved {
		facts = append(facts, nexus.PlanApproved{})
	}
	for i, f := range facts {
		if err := s.Apply(nexus.Event{Seq: int64(i + 1), Run: "r1", At: time.Unix(int64(i), 0), Fact: f}); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func land(s *state.State, ids ...nexus.TaskID) {
	for _, id := range ids {
		t := s.TaskByID(id)
		t.Status, t.Landed = nexus.Landed, &nexus.LandingCompleted{Commit: "commit-" + string(id)}
	}
}

func TestTrace(t *testing.T) {
	const goal = "Read them. Write them. Thank you."
	a := nexus.Task{ID: "A", Title: "A", Covers: []string{"S1"}, Criteria: []nexus.Criterion{{Text: "x"}}}
	b := nexus.Task{ID: "B", Title: "B", Covers: []string{"S2", "S3"}, Criteria: []nexus.Criterion{{Text: "y"}}}
	rows := func(states ...accept.CriterionState) (all []accept.CriterionRow) {
		for i, one := range states {
			id := nexus.TaskID(rune('A' + i))
			all = append(all, accept.CriterionRow{ID: accept.CriterionID(id, 1), Task: id, State: one, Test: "TestIt", File: "it_test.go"})
		}
		return all
	}
	cover := &nexus.PlanCoverage{State: nexus.CoverGaps, Statements: []nexus.StatementCoverage{
		{ID: "S1", Tasks: []nexus.TaskID{"A", "B"}, Criteria: []string{"A/AC-1"}, Asks: true}, {ID: "S2", Missing: "nothing writes", Asks: true}, {ID: "S3"},
	}}
	landed := planned(t, goal, nil, true, a, b)
	land(landed, "A", "B")
	checked := planned(t, goal, cover, true, a, b)
	land(checked, "A", "B")
	half := planned(t, goal, nil, true, a, b)
	land(half, "A")
	alone := planned(t, "Read them", nil, true, nexus.Task{ID: "A", Title: "A", Criteria: a.Criteria})
	land(alone, "A")
	for _, c := range []struct {
		name, goal string
		s          *state.State
		rows       []accept.CriterionRow
		want       []string
	}{
		{"no run", goal, nil, nil, []string{"S1 captured: no run has planned it", "S2 captured: no run has planned it", "S3 captured: no run has planned it"}},
		{"not approved", goal, planned(t, goal, nil, false, a), nil, []string{"S1 captured A: its plan is not approved", "S2 captured: no task serves it", "S3 captured: no task serves it"}},
		{"planned", goal, half, rows(accept.Met), []string{"S1 verified A", "S2 validated B: B is pending", "S3 validated B: B is pending"}},
		{"landed", goal, landed, rows(accept.Met, accept.Unmet), []string{"S1 verified A", "S2 implemented B: B/AC-1 is not met", "S3 implemented B: B/AC-1 is not met"}},
		{"unknown", goal, landed, rows(accept.Unknown, ""), []string{"S1 implemented A: nothing shows A/AC-1", "S2 implemented B: nothing shows B/AC-1", "S3 implemented B: nothing shows B/AC-1"}},
		{"a checker", goal, checked, rows(accept.Met, accept.Unmet), []string{"S1 implemented AB: B/AC-1 is not met", "S2 captured: the plan does not cover it: nothing writes", "S3 captured"}},
		{"changed", "Read all. Write them. Thank you. More.", landed, rows(accept.Met, accept.Met), []string{
			"S1 captured: it was changed since run r1", "S2 verified B", "S3 verified B", "S4 captured: it is new since run r1",
		}},
		{"one statement", "Read them", alone, rows(accept.Met), []string{"S1 verified A"}},
	} {
		got := []string{}
		gaps := 0
		tr := TraceGoal(c.goal, c.s, c.rows)
		for _, r := range tr.Rows {
			text := fmt.Sprintf("%s %s", r.ID, r.Stage)
			if len(r.Tasks) > 0 {
				text += " "
			}
			for _, one := range r.Tasks {
				text += string(one.ID)
			}
			if r.Gap != "" {
				text += ": " + r.Gap
				gaps++
			}
			if r.Stage == Verified && (len(r.Commits) != len(r.Tasks) || strings.Join(r.Tests, "") != "TestIt it_test.go") {
				t.Errorf("%s: %+v", c.name, r)
			}
			got = append(got, text)
		}
		if diff := cmp.Diff(c.want, got); diff != "" || gaps != tr.Gaps {
			t.Errorf("%s: %d gaps (-want +got)\n%s", c.name, tr.Gaps, diff)
		}
	}
}

// What a checker cannot take away, and what it did not see.
func TestTraceDoubts(t *testing.T) {
	const goal = "# T\n## Requirements\n- REQ-1: a\n## Acceptance Criteria\n- AC-1 (REQ-1): b (check: `make`)\n"
	a := nexus.Task{ID: "A", Title: "A", Covers: []string{"REQ-1", "AC-1"}, Criteria: []nexus.Criterion{{Text: "x"}, {Text: "y"}}}
	b := nexus.Task{ID: "B", Title: "B", Criteria: []nexus.Criterion{{Text: "z"}}}
	row := func(task nexus.TaskID, n int, state accept.CriterionState) accept.CriterionRow {
		return accept.CriterionRow{ID: accept.CriterionID(task, n), Task: task, State: state}
	}
	says := func(one nexus.StatementCoverage) *nexus.PlanCoverage {
		return &nexus.PlanCoverage{State: nexus.CoverFull, Statements: []nexus.StatementCoverage{one}}
	}
	first := func(goal string, s *state.State, rows ...accept.CriterionRow) StatementProgress {
		return TraceGoal(goal, s, rows).Rows[0]
	}
	landed := func(c *nexus.PlanCoverage) *state.State {
		s := planned(t, goal, c, true, a, b)
		land(s, "A", "B")
		return s
	}
	if r := first(goal, planned(t, goal, says(nexus.StatementCoverage{ID: "REQ-1"}), true)); !r.Asks || r.Gap != "no task serves it" {
		t.Errorf("a requirement asks for something: %+v", r)
	}
	there := says(nexus.StatementCoverage{ID: "REQ-1", Asks: true, There: "a.go"})
	if r := first(goal, planned(t, goal, there, false)); r.Gap != "its plan is not approved" {
		t.Errorf("no plan is approved: %+v", r)
	}
	if r := first(goal, planned(t, goal, there, true)); r.Gap != "" || r.Note == "" {
		t.Errorf("it is there: %+v", r)
	}
	if r := first(goal, planned(t, goal, says(nexus.StatementCoverage{ID: "REQ-1", Asks: true, There: "none"}), true)); r.Gap != "no task serves it" {
		t.Errorf("it is nowhere: %+v", r)
	}
	both := says(nexus.StatementCoverage{ID: "REQ-1", Asks: true, Tasks: []nexus.TaskID{"A", "B"}, Criteria: []string{"A/AC-1"}})
	if r := first(goal, landed(both), row("A", 1, accept.Met), row("A", 2, accept.Unmet), row("B", 1, accept.Met)); r.Stage != Verified || len(r.Criteria) != 2 {
		t.Errorf("one criterion of A was named: %+v", r)
	}
	if r := first(goal, landed(both), row("A", 1, accept.Met), row("B", 1, accept.Unknown)); r.Gap != "nothing shows B/AC-1" {
		t.Errorf("B has to be shown, too: %+v", r)
	}
	split := planned(t, goal, both, true, a, b, nexus.Task{ID: "C", Title: "C", Criteria: b.Criteria})
	land(split, "A", "C")
	split.TaskByID("B").Status = nexus.Split
	split.Splits.All = append(split.Splits.All, &state.TaskSplitState{TaskSplitStarted: nexus.TaskSplitStarted{Task: "B"}, Parts: []nexus.TaskID{"C"}})
	if r := first(goal, split, row("A", 1, accept.Met), row("C", 1, accept.Unknown)); r.Gap != "nothing shows C/AC-1" {
		t.Errorf("no checker saw the part: %+v", r)
	}
	for _, changed := range []string{strings.Replace(goal, "make", "true", 1), strings.Replace(goal, " (REQ-1)", "", 1)} {
		rows := TraceGoal(changed, landed(nil), []accept.CriterionRow{row("A", 1, accept.Met), row("A", 2, accept.Met)}).Rows
		if rows[0].Gap != "" || rows[1].Gap != "it was changed since run r1" {
			t.Errorf("%s: %+v", changed, rows)
		}
	}
	if tr := TraceGoal("# T\n## Later\n- REQ-1: a\n", landed(nil), nil); tr.Why == "" || len(tr.Rows) != 1 {
		t.Errorf("nothing can be followed: %+v", tr)
	}
}
