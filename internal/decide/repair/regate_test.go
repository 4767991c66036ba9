package repair_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestRegate lets the gates judge what is ready before anybody is paid to submit
// it, and gives what they find to its author.
func TestRegate(t *testing.T) {
	ready := repair.AttemptTreeFacts{Tested: true, Ready: true}
	round := []nexus.Fact{
		nexus.RoundStarted{Attempt: "T1.1", Round: 1, Role: nexus.Reviser, Cause: repair.KeptCause},
		nexus.TreeSnapshotted{Attempt: "T1.1", Commit: "c", Tree: "t"},
	}
	for name, c := range map[string]struct {
		facts  []nexus.Fact
		way    nexus.WritingStrategy
		of     repair.AttemptTreeFacts
		rounds int
		want   string
	}{
		"it is ready":              {nil, nexus.TestAfter, ready, 0, "regate  "},
		"it is not":                {nil, nexus.TestAfter, repair.AttemptTreeFacts{Tested: true}, 0, "write coder "},
		"there is nothing":         {nil, nexus.TestAfter, repair.AttemptTreeFacts{Ready: true, Untouched: true}, 0, "write coder "},
		"one round is left":        {nil, nexus.TestAfter, ready, 1, "write coder "},
		"two are":                  {nil, nexus.TestAfter, ready, 2, "regate  "},
		"its tests are to be red":  {nil, nexus.TDDStrict, ready, 0, "prove  "},
		"they are":                 {proved(nexus.ProofRed), nexus.TDDStrict, ready, 0, "regate  "},
		"it was begun":             {round, nexus.TestAfter, ready, 0, "judge  "},
		"the gates pass":           {join(round, gates(nexus.Pass, "t")), nexus.TestAfter, ready, 0, "review  "},
		"they pass, tests first":   {join(proved(nexus.ProofRed), round, gates(nexus.Pass, "t")), nexus.TDDLite, ready, 0, "verify  "},
		"they pass, tests at once": {join(round, gates(nexus.Pass, "t")), nexus.TDDSimple, ready, 0, "prove  "},
		"they are red":             {join(round, gates(nexus.Fail, "t")), nexus.TestAfter, ready, 0, "write coder test"},
		"one cannot tell":          {join(round, gates(nexus.Unverifiable, "t")), nexus.TestAfter, ready, 0, "write coder test"},
		"its author submits it":    {join(round, gates(nexus.Fail, "t"), submitted(2, "test", "t")), nexus.TestAfter, ready, 0, "end  "},
	} {
		step := repair.NextRepairStep(&state.TaskState{Task: nexus.Task{ID: "T1"}}, from(with(c.way, c.facts...)), nexus.Limits{Same: 9, Rounds: c.rounds}, c.of)
		if got := string(step.Move) + " " + string(step.Role) + " " + step.Cause; got != c.want {
			t.Errorf("%s: %+v", name, step)
		}
	}
}

// from is an attempt that starts from the result of another.
func from(a *state.AttemptState) *state.AttemptState {
	a.From, a.FromRound = "T1.0", 1
	return a
}
