package view

import (
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestTimeIsTimeWorked holds that a run, its task and its attempt show the time worked: not a pause,
// not the night after a kill, not what comes after the end; and that the rest is shown as waited.
func TestTimeIsTimeWorked(t *testing.T) {
	s := state.NewState("r")
	begin := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	at := func(minutes int) time.Time { return begin.Add(time.Duration(minutes) * time.Minute) }
	var seq int64
	add := func(minutes int, f nexus.Fact) {
		t.Helper()
		seq++
		if err := s.Apply(nexus.Event{Run: "r", Seq: seq, At: at(minutes), Fact: f}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(minutes int, run, waited, task float64) {
		t.Helper()
		r := NewRunView(s, nil, at(minutes))
		if r.Seconds != run*60 || r.Waited != waited*60 || r.Tasks[0].Seconds != task*60 {
			t.Errorf("after %d min: run %v s, waited %v s, task %v s; want %v, %v, %v min", minutes, r.Seconds, r.Waited, r.Tasks[0].Seconds, run, waited, task)
		}
	}
	add(0, nexus.GoalAccepted{Goal: nexus.Goal{Text: "g"}, Base: "b", Limits: nexus.DefaultLimits()})
	add(0, nexus.RunStarted{})
	add(0, nexus.TaskPlanned{Task: nexus.Task{ID: "T1", Title: "t"}})
	add(0, nexus.PlanApproved{By: "policy"})
	add(1, nexus.AttemptStarted{Attempt: "T1.1", Task: "T1"})
	check(4, 4, 0, 3)
	add(5, nexus.RunPaused{})
	check(60, 5, 55, 4)
	add(65, nexus.RunResumed{})
	check(70, 10, 60, 9)
	add(70, nexus.RunRecovered{}) // its process died at minute 65, where it was last heard of
	add(70, nexus.AttemptLost{Attempt: "T1.1"})
	add(70, nexus.RunResumed{})
	check(72, 7, 65, 4)
	add(75, nexus.RunEnded{Status: nexus.StatusStopped})
	check(6000, 10, 65, 4)
}
