package gate_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// TestGroundExcusesNothing: what a gate says that could not judge the base neither counts against work nor for it.
func TestGroundExcusesNothing(t *testing.T) {
	with := func(tree string, s nexus.GateState, code string) nexus.GateEvidence {
		return nexus.GateEvidence{Gate: "lint", Tree: tree, State: s, Why: "why", Findings: []nexus.Finding{{Gate: "lint", Code: code, Message: "said"}}}
	}
	red := with("b", nexus.Fail, parserbase.CodeExit)
	obstacle, ground := with("b", nexus.NotRun, parserbase.CodeObstacle), gate.MarkEnvironmentFault(red)
	for name, c := range map[string]struct {
		base, now nexus.GateEvidence
		want      nexus.GateState
		findings  int
	}{
		"an obstacle in both":                 {obstacle, with("t", nexus.NotRun, parserbase.CodeObstacle), nexus.NotRun, 0},
		"an obstacle before, red now":         {obstacle, with("t", nexus.Fail, parserbase.CodeExit), nexus.Fail, 1},
		"green before, an obstacle now":       {nexus.GateEvidence{Gate: "lint", Tree: "b", State: nexus.Pass}, with("t", nexus.NotRun, parserbase.CodeObstacle), nexus.Fail, 1},
		"green in the checkout only, red now": {ground, with("t", nexus.Fail, parserbase.CodeExit), nexus.NotRun, 0},
		"green in the checkout, green now":    {ground, nexus.GateEvidence{Gate: "lint", Tree: "t", State: nexus.Pass}, nexus.Pass, 0},
		"red in both":                         {red, with("t", nexus.Fail, parserbase.CodeExit), nexus.Pass, 0},
	} {
		if got := gate.CompareWithBase(c.base, c.now, nil); got.State != c.want || len(got.Findings) != c.findings {
			t.Errorf("%s: %s, %d findings, %s", name, got.State, len(got.Findings), got.Why)
		}
	}
	for name, e := range map[string]nexus.GateEvidence{"obstacle": obstacle, "ground": ground} {
		if f, ok := gate.EnvironmentObstacleOf(e); !ok || f.Gate != "lint" || f.Cause == "" {
			t.Errorf("%s: %+v", name, f)
		}
	}
	if f, ok := gate.EnvironmentObstacleOf(red); ok {
		t.Errorf("red alone is %+v", f)
	}
}
