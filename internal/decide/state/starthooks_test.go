package state_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestWhetherWorkMayStart is asked of hooks by each process anew.
func TestWhetherWorkMayStart(t *testing.T) {
	for name, c := range map[string]struct {
		facts []nexus.Fact
		want  state.StartHookCheck
	}{
		"there are none":           {[]nexus.Fact{nexus.RunStarted{}}, state.StartHookCheck{}},
		"not asked":                {[]nexus.Fact{nexus.RunStarted{Hooks: true}}, state.StartHookCheck{Stage: state.StartUnasked}},
		"asked":                    {[]nexus.Fact{nexus.RunStarted{Hooks: true}, nexus.StartHooksAsked{}}, state.StartHookCheck{Stage: state.StartAsked}},
		"allowed":                  {[]nexus.Fact{nexus.RunStarted{Hooks: true}, nexus.StartHooksAsked{}, nexus.StartHooksAnswered{Allowed: true}}, state.StartHookCheck{}},
		"refused":                  {[]nexus.Fact{nexus.RunStarted{Hooks: true}, nexus.StartHooksAsked{}, nexus.StartHooksAnswered{Why: "late"}}, state.StartHookCheck{Stage: state.StartRefused, Why: "late"}},
		"taken up":                 {[]nexus.Fact{nexus.RunStarted{}, nexus.RunRecovered{Hooks: true}}, state.StartHookCheck{Stage: state.StartUnasked, Again: true}},
		"taken up without a hook ": {[]nexus.Fact{nexus.RunStarted{Hooks: true}, nexus.RunRecovered{}}, state.StartHookCheck{Again: true}},
	} {
		s := fold(t, append([]nexus.Fact{nexus.GoalAccepted{Base: "c0"}}, c.facts...)...)
		if s.Start != c.want {
			t.Errorf("%s: %+v, want %+v", name, s.Start, c.want)
		}
	}
}

// TestPlansAreAdmittedWhole: the tasks of a plan that takes the place of another one are held
// against each other, and not against those that it replaces.
func TestPlansAreAdmittedWhole(t *testing.T) {
	task := func(id nexus.TaskID, needs ...nexus.TaskID) nexus.Fact {
		return nexus.TaskPlanned{Task: nexus.Task{ID: id, Needs: needs}}
	}
	s := fold(t, nexus.GoalAccepted{Base: "c0"}, nexus.RunStarted{}, nexus.PlanProposed{Tasks: 1}, task("T1", "T2"), task("T2"))
	revised := nexus.PlanRevised{Tasks: 2, By: "ada"}
	if err := s.CheckFacts(revised, task("T1"), task("T2", "T1"), nexus.PlanApproved{By: "ada"}); err != nil {
		t.Errorf("a plan in place of another one: %v", err)
	}
	if err := s.CheckFacts(revised, task("T1", "T2"), task("T2", "T1"), nexus.PlanApproved{By: "ada"}); err == nil {
		t.Error("a plan whose tasks wait for each other is approved")
	}
	if len(s.Tasks) != 2 || s.TaskByID("T1").Needs[0] != "T2" {
		t.Errorf("asking changed it: %+v", s.Tasks)
	}
	refused(t, fold(t, planned(nexus.Limits{})...), revised, "no plan waits")
}
