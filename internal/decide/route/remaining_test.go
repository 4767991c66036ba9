package route_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/route"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// landedRun is a run whose tasks took so many minutes.
func landedRun(minutes ...int) *state.State {
	s := state.NewState("old")
	for i, d := range minutes {
		s.Tasks = append(s.Tasks, &state.TaskState{Task: nexus.Task{ID: nexus.TaskID(fmt.Sprint("T", i))}, Landed: &nexus.LandingCompleted{}, Worked: time.Duration(d) * time.Minute})
	}
	return s
}

// TestLeftOver says how long a run will still take, or that is unknown.
func TestLeftOver(t *testing.T) {
	var past, few route.PastRunStatistics
	past.AddRun(landedRun(8, 9, 10, 10, 11, 12))
	few.AddRun(landedRun(8, 9))
	left := map[string]route.RemainingTime{}
	for name, c := range map[string]struct {
		past   *route.PastRunStatistics
		worked time.Duration // on the first of two tasks
		needs  bool          // the second task needs it
		wants  bool          // the second task wants it
	}{
		"nothing":      {nil, 0, false, false},
		"too few":      {&few, 0, false, false},
		"side by side": {&past, 0, false, false},
		"in line":      {&past, 0, true, false},
		"wanted":       {&past, 0, false, true},
		"partly done":  {&past, 5 * time.Minute, true, false},
		"late":         {&past, 40 * time.Minute, false, false},
	} {
		second := nexus.Task{ID: "T2"}
		if c.needs {
			second.Needs = []nexus.TaskID{"T1"}
		}
		if c.wants {
			second.Wants = []nexus.TaskID{"T1"}
		}
		s := state.NewState("r")
		for i, f := range []nexus.Fact{
			nexus.GoalAccepted{Base: "b0", Limits: nexus.DefaultLimits()},
			nexus.RunStarted{},
			nexus.PlanProposed{Plan: "p", Tasks: 2},
			nexus.TaskPlanned{Task: nexus.Task{ID: "T1"}},
			nexus.TaskPlanned{Task: second},
			nexus.PlanApproved{},
		} {
			if err := s.Apply(nexus.Event{Seq: int64(i + 1), Fact: f}); err != nil {
				t.Fatal(err)
			}
		}
		s.Tasks[0].Worked = c.worked
		run, tasks := c.past.RemainingTimes(s, time.Time{})
		if again, _ := c.past.RemainingTimes(s, time.Time{}); again != run {
			t.Errorf("%s: %+v, and then %+v", name, run, again)
		}
		left[name] = run
		if _, ok := tasks["T1"]; ok != (c.worked > 0) {
			t.Errorf("%s: the first task has a time left: %v", name, ok)
		}
	}
	within := func(name string, low, high time.Duration) {
		if l := left[name]; l.Low < low || l.High > high || l.Low >= l.High {
			t.Errorf("%s: %s to %s is not within %s to %s", name, l.Low, l.High, low, high)
		}
	}
	if left["nothing"] != (route.RemainingTime{}) || left["too few"] != (route.RemainingTime{}) {
		t.Errorf("%+v", left)
	}
	within("side by side", 8*time.Minute, 22*time.Minute)
	within("in line", 15*time.Minute, 33*time.Minute)
	if left["wanted"] != left["in line"] {
		t.Errorf("wanted: %+v, needed: %+v", left["wanted"], left["in line"])
	}
	within("partly done", 11*time.Minute, 28*time.Minute)
	within("late", 5*time.Minute, 60*time.Minute) // it is not over though it is late
}

// TestLeftUrgent begins tasks in the rehearsal as the scheduler does: the most urgent
// first. So the long task comes last, and the run takes longer.
func TestLeftUrgent(t *testing.T) {
	var past route.PastRunStatistics
	past.AddRun(landedRun(8, 9, 10, 10, 11, 12))
	left := func(p nexus.Priority) route.RemainingTime {
		limits := nexus.DefaultLimits()
		limits.Parallel = 2
		s := state.NewState("r")
		for i, f := range []nexus.Fact{
			nexus.GoalAccepted{Base: "b0", Limits: limits},
			nexus.RunStarted{},
			nexus.PlanProposed{Plan: "p", Tasks: 4},
			nexus.TaskPlanned{Task: nexus.Task{ID: "T1"}},
			nexus.TaskPlanned{Task: nexus.Task{ID: "T2", Needs: []nexus.TaskID{"T1"}}},
			nexus.TaskPlanned{Task: nexus.Task{ID: "T3", Priority: p}},
			nexus.TaskPlanned{Task: nexus.Task{ID: "T4", Priority: p}},
			nexus.PlanApproved{},
		} {
			if err := s.Apply(nexus.Event{Seq: int64(i + 1), Fact: f}); err != nil {
				t.Fatal(err)
			}
		}
		run, _ := past.RemainingTimes(s, time.Time{})
		return run
	}
	if usual, urgent := left(""), left(nexus.PriorityHigh); urgent.High <= usual.High+5*time.Minute {
		t.Errorf("%+v where all are the same, %+v where what nothing waits for is urgent", usual, urgent)
	}
}
