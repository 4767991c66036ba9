package view

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestWasted holds that money is wasted where an attempt is over and did not
// land, and not while it is under way, accepted or landed.
func TestWasted(t *testing.T) {
	s := state.NewState("r")
	fold := func(facts ...nexus.Fact) {
		t.Helper()
		for _, f := range facts {
			if err := s.Apply(nexus.Event{Seq: s.Seq + 1, Run: "r", Fact: f}); err != nil {
				t.Fatal(err)
			}
		}
	}
	spend := func(a nexus.AttemptID, m nexus.Money) {
		t.Helper()
		id := string(a)
		fold(nexus.AttemptStarted{Attempt: a, Task: "T1", Base: "c0"},
			nexus.SessionStarted{Session: nexus.SessionID(id + "/coder.1"), Attempt: a, Role: nexus.Coder},
			nexus.BudgetReserved{ID: id, Task: "T1", Session: nexus.SessionID(id + "/coder.1"), Role: nexus.Coder, Money: m},
			nexus.BudgetSettled{ID: id, Money: m})
	}
	wasted := func(when string, want nexus.Money) {
		t.Helper()
		if got := WastedCost(s); got != want {
			t.Errorf("%s: %s wasted, want %s", when, got, want)
		}
	}
	fold(nexus.GoalAccepted{Base: "c0"}, nexus.RunStarted{}, nexus.PlanProposed{Tasks: 1}, nexus.TaskPlanned{Task: nexus.Task{ID: "T1"}}, nexus.PlanApproved{})
	spend("T1.1", 3)
	wasted("under way", 0)
	fold(nexus.AttemptEnded{Attempt: "T1.1", Outcome: nexus.NoProgress})
	wasted("in vain", 3)
	spend("T1.2", 4)
	fold(nexus.AttemptEnded{Attempt: "T1.2", Outcome: nexus.Accepted, Commit: "x"})
	wasted("accepted", 3)
	fold(nexus.LandingQueued{Task: "T1", Attempt: "T1.2"}, nexus.LandingStarted{Task: "T1", Attempt: "T1.2", Onto: "c0"},
		nexus.LandingCompleted{Task: "T1", Attempt: "T1.2", Commit: "c1", Parent: "c0"})
	wasted("landed", 3)
}
