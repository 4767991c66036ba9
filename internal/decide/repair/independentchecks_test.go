package repair_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestWantsIndependent holds when somebody is asked for an independent check.
func TestWantsIndependent(t *testing.T) {
	task := nexus.Task{ID: "T1", Criteria: []nexus.Criterion{
		{Text: "it says one"}, {Text: "it says two", Kind: nexus.StaysCriterion}, {Text: "it says three"},
	}}
	shown := []nexus.CriterionGateEvidence{{Number: 1, Own: true}, {Number: 2, Own: true}, {Number: 3, By: nexus.TurnedBearing}, {Number: 4, Own: true}}
	for _, c := range []struct {
		when  string
		edits bool
		want  []int
	}{
		{"", true, nil},
		{repair.IndependentOff, true, nil},
		{repair.IndependentAuto, true, []int{1}},
		{repair.IndependentAuto, false, nil}, // a new feature
		{repair.IndependentAlways, false, []int{1, 2}},
	} {
		if got := repair.CriteriaNeedingIndependentCheck(c.when, task, shown, c.edits); !slices.Equal(got, c.want) {
			t.Errorf("%q, edits %v: asked for %v, want %v", c.when, c.edits, got, c.want)
		}
	}
}

// TestDoubted holds that a verifier hears of a check that fails only after its author did.
func TestDoubted(t *testing.T) {
	p := nexus.IndependentChecksRun{Checks: []nexus.CriterionTest{{Number: 1, Red: true, File: "x_test.sh", Why: "no one"}, {Number: 2, Proved: true}}}
	a := &state.AttemptState{}
	if got := repair.DoubtedFindings(a, p); got != nil {
		t.Errorf("doubted %v before the author heard of it", got)
	}
	a.Rounds = append(a.Rounds, &state.AttemptRound{RoundStarted: nexus.RoundStarted{Cause: repair.IndependentGate}})
	if got := repair.DoubtedFindings(a, p); len(got) != 1 || !strings.Contains(got[0].Message, "criterion 1") {
		t.Errorf("doubted %v", got)
	}
}
