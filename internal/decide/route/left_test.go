package route_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/route"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestLeftOver says how long a run will still take, or that is unknown.
func TestLeftOver(t *testing.T) {
	var past route.Stats
	for _, d := range []int{2, 4, 6, 8, 10} {
		past.Add(&state.State{Tasks: []*state.Task{{Landed: &nexus.TrainLanded{}, Worked: time.Duration(d) * time.Minute}}})
	}
	for name, c := range map[string]struct {
		past   *route.Stats
		worked time.Duration // on the first of two tasks
		needs  bool          // the second task needs it
		want   string
	}{
		"nothing is known":      {nil, 0, false, "0s to 0s"},
		"side by side":          {&past, 0, false, "2m0s to 8m0s"},
		"one after the other":   {&past, 0, true, "4m0s to 16m0s"},
		"some time is gone":     {&past, 5 * time.Minute, false, "2m0s to 8m0s"},
		"longer than the rest":  {&past, 9 * time.Minute, false, "0s to 0s"},
		"in line, partly done":  {&past, 5 * time.Minute, true, "3m0s to 11m0s"},
		"in line, nearly as it": {&past, 7 * time.Minute, true, "3m0s to 9m0s"},
	} {
		second := nexus.Task{ID: "T2"}
		if c.needs {
			second.Needs = []nexus.TaskID{"T1"}
		}
		s := state.New("r")
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
		run, tasks := c.past.Left(s, time.Time{})
		if got := fmt.Sprintf("%s to %s", run.Low, run.High); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if _, ok := tasks["T1"]; ok != (c.worked > 0 && c.worked < 9*time.Minute) {
			t.Errorf("%s: the first task has a time left: %v", name, ok)
		}
	}
}
