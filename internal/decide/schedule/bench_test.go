package schedule_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/schedule"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/state/eventtapetest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// BenchmarkNext asks what comes next in a run of many tasks: once while all
// workers are busy, which is the common case, and once to start one.
func BenchmarkNext(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		s := large(b, n)
		b.Run(fmt.Sprintf("start of %d", n), func(b *testing.B) {
			for b.Loop() {
				if len(schedule.NextFacts(s, s.Updated)) == 0 {
					b.Fatal("nothing starts")
				}
			}
		})
		seq := s.Seq
		for range n {
			facts := schedule.NextFacts(s, s.Updated)
			if len(facts) == 0 {
				break
			}
			for _, f := range facts {
				seq++
				apply(b, s, seq, f)
			}
		}
		b.Run(fmt.Sprintf("busy with %d", n), func(b *testing.B) {
			for b.Loop() {
				if f := schedule.NextFacts(s, s.Updated); len(f) != 0 {
					b.Fatalf("%v", f)
				}
			}
		})
	}
}

func apply(b *testing.B, s *state.State, seq int64, f nexus.Fact) {
	b.Helper()
	if err := s.Apply(nexus.Event{Seq: seq, Run: "r", At: eventtapetest.TapeStartTime().Add(time.Duration(seq)), Fact: f}); err != nil {
		b.Fatal(err)
	}
}

// large returns a run with n tasks, each of which needs one of the hundred
// before it, and 64 workers.
func large(b *testing.B, n int) *state.State {
	b.Helper()
	limits := nexus.DefaultLimits()
	limits.Parallel, limits.Dispatches = 64, 0
	facts := []nexus.Fact{nexus.GoalAccepted{Base: "c0", Limits: limits}, nexus.RunStarted{}, nexus.PlanProposed{Tasks: n}}
	for i := range n {
		t := nexus.Task{ID: nexus.TaskID(fmt.Sprintf("T%d", i)), Minutes: 5 + i%26, Files: []string{fmt.Sprintf("f%d", i)}}
		if i >= 100 {
			t.Needs = []nexus.TaskID{nexus.TaskID(fmt.Sprintf("T%d", i-100+i*7%100))}
		}
		facts = append(facts, nexus.TaskPlanned{Task: t})
	}
	s := state.NewState("r")
	for i, f := range append(facts, nexus.PlanApproved{}) {
		apply(b, s, int64(i+1), f)
	}
	return s
}
