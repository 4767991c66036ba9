package state_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// drafted returns the facts of a run whose first plan was refused, and whose second one has the same task.
func drafted(before ...nexus.Fact) []nexus.Fact {
	plan := func(title string) []nexus.Fact {
		return []nexus.Fact{
			nexus.PlanProposed{Tasks: 1}, nexus.TaskPlanned{Task: nexus.Task{ID: "T1", Title: title, Criteria: []nexus.Criterion{{Text: title, Check: "test"}}}},
		}
	}
	all := append([]nexus.Fact{nexus.GoalAccepted{Base: "c0", Limits: nexus.DefaultLimits()}, nexus.RunStarted{}}, plan("Read")...)
	all = append(all, before...)
	return append(append(all, nexus.PlanRejected{By: "ada", Why: "write"}), plan("Write")...)
}

// TestProposal tells the plans that people saw, also when what was agreed to is another thing by now.
func TestProposal(t *testing.T) {
	s := fold(t, drafted()...)
	if got := s.PlanVersion(1); got[0].Title != "Write" || got[0].Criteria[0].Text != "Write" {
		t.Errorf("the plan that waits: %+v", got)
	}
	next(t, s, nexus.PlanApproved{By: "ada"})
	next(t, s, nexus.CriterionRevised{Task: "T1", Number: 1, Criterion: nexus.Criterion{Text: "Write twice"}, By: "ada"})
	if now := s.TaskByID("T1").Criteria[0].Text; now != "Write twice" {
		t.Fatal(now)
	}
	for n, want := range []string{"Read", "Write"} {
		if got := s.PlanVersion(n); len(got) != 1 || got[0].Title != want || got[0].Criteria[0].Text != want {
			t.Errorf("plan %d: %+v, want %s", n, got, want)
		}
	}
}

// TestWaivedBefore holds that a criterion which people did without is one of the plan that they saw: the next plan may
// use its name for something else.
func TestWaivedBefore(t *testing.T) {
	approve := nexus.RequestMade{Request: nexus.Request{Verb: nexus.VerbApprove, ID: "T1/AC-1", By: "ada"}}
	s := fold(t, drafted(approve)...)
	next(t, s, nexus.PlanApproved{By: "ada"})
	if v := s.WorkerView("T1"); len(v.Waived) > 0 {
		t.Errorf("%v is waived", v.Waived)
	}
	next(t, s, approve)
	if v := s.WorkerView("T1"); len(v.Waived) != 1 {
		t.Errorf("%v is waived", v.Waived)
	}
}

// TestToldBefore holds that what was told of a plan goes with it, and that whoever looked at the state before still sees it.
func TestToldBefore(t *testing.T) {
	facts := drafted(nexus.RequestMade{Request: nexus.Request{Verb: nexus.VerbTell, Task: "T1", Text: "mind the gap", By: "ada"}})
	s := fold(t, facts[:5]...)
	seen := s.Guidance
	for _, f := range facts[5:] {
		next(t, s, f)
	}
	if s.Guidance != nil {
		t.Errorf("%+v is left", s.Guidance)
	}
	if len(seen) != 1 || seen[0].Text != "mind the gap" {
		t.Errorf("who looked before sees %+v", seen)
	}
}
