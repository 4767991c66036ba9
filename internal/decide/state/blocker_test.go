package state_test

import (
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestBlockersAgree compares both ways to find what blocks a task.
func TestBlockersAgree(t *testing.T) {
	blocked := 0
	for seed := range uint64(200) {
		dice := rand.New(rand.NewPCG(seed, 1))
		s := state.NewState("r")
		name := func(n int) nexus.TaskID { return nexus.TaskID("T" + strconv.Itoa(n)) }
		seq := int64(0)
		apply := func(f nexus.Fact) {
			seq++
			if err := s.Apply(nexus.Event{Seq: seq, Run: "r", Fact: f}); err != nil {
				t.Fatal(err)
			}
		}
		apply(nexus.GoalAccepted{Base: "b0"})
		apply(nexus.RunStarted{})
		apply(nexus.PlanningStarted{Attempt: "plan.1"})
		apply(nexus.PlanProposed{Plan: "p", Tasks: 12})
		for n := range 12 {
			task := nexus.Task{ID: name(n), Title: "t"}
			for range min(n, dice.IntN(4)) {
				task.Needs = append(task.Needs, name(dice.IntN(n)))
			}
			apply(nexus.TaskPlanned{Task: task})
		}
		apply(nexus.PlanApproved{})
		for range 2 {
			apply(nexus.TaskParked{Task: name(dice.IntN(12)), Why: "w"})
		}
		all := s.BlockerIndex()
		for _, task := range s.Tasks {
			want, is := s.BlockerOf(task)
			got, ok := all.BlockerOf(task)
			if want != got || is != ok || s.StatusOf(task) != all.StatusOf(task) {
				t.Fatalf("seed %d, %s: %q, %v, %s; one by one %q, %v, %s", seed, task.ID, got, ok, all.StatusOf(task), want, is, s.StatusOf(task))
			}
			if ok {
				blocked++
			}
		}
	}
	if blocked == 0 {
		t.Error("nothing was blocked")
	}
}
