package repair_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestProgressIsAShare holds that progress is between 0 and 99 % before an attempt is accepted,
// however many packages a gate judges, and that a gate that failed in one package is not passed.
func TestProgressIsAShare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gates := rapid.SampledFrom([]string{"build", "lint", "test"})
		states := rapid.SampledFrom([]nexus.GateState{nexus.Pass, nexus.Fail, nexus.NotRun})
		a := &state.AttemptState{ID: "T1.1"}
		for range rapid.IntRange(1, 3).Draw(t, "rounds") {
			r := &state.AttemptRound{}
			for range rapid.IntRange(1, 9).Draw(t, "packages") {
				r.Evidence = append(r.Evidence, nexus.GateEvidence{Gate: gates.Draw(t, "gate"), State: states.Draw(t, "state")})
			}
			a.Rounds = append(a.Rounds, r)
		}
		s := state.NewState("r")
		s.Limits = nexus.DefaultLimits()
		got := repair.AssessTask(s, &state.TaskState{Task: nexus.Task{ID: "T1"}, Status: nexus.Running, Attempts: []*state.AttemptState{a}}).Progress
		red := 0
		for _, e := range a.Rounds[len(a.Rounds)-1].Evidence {
			if e.State == nexus.Fail {
				red++
			}
		}
		if got < 0 || got > 75 || red == len(a.Rounds[len(a.Rounds)-1].Evidence) && got > 0 {
			t.Fatalf("%d %% with %d red of %+v", got, red, a.Rounds)
		}
	})
}
