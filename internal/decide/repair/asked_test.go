package repair_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestWhoVerifies is not paid again for a tree that it approved, unless people asked
// for something since.
func TestWhoVerifies(t *testing.T) {
	task := nexus.Task{ID: "T1", Criteria: []nexus.Criterion{{Text: "it adds"}}}
	approved := func(n int) []nexus.Fact {
		return []nexus.Fact{nexus.VerifierVerdictGiven{Attempt: "T1.1", Tree: "t", Read: true, Criteria: make([]nexus.CriterionJudgement, n)}}
	}
	rejected := []nexus.Fact{nexus.ReviewerVerdictGiven{Reviewed: true, Summary: "no", SendsBack: true, Findings: []nexus.Finding{{Message: "it races", Severity: nexus.Major}}}}
	disputed := nexus.FindingAnswer{Finding: 1, Status: nexus.Contested, Why: "it holds a lock"}
	once := join(submitted(1, "", "t"), gates(nexus.Pass, "t"))
	again := func(tree string, criteria int) []nexus.Fact {
		return join(once, approved(criteria), rejected, submitted(2, "review", tree, disputed), gates(nexus.Pass, tree))
	}
	for name, c := range map[string]struct {
		facts []nexus.Fact
		way   nexus.WritingStrategy
		asked int
		want  repair.RepairMove
	}{
		"code first":                {once, nexus.TestAfter, 1, repair.Review},
		"tests first":               {once, nexus.TDDLite, 1, repair.Verify},
		"a verifier read it":        {join(once, approved(2)), nexus.TDDLite, 1, repair.Review},
		"it approved the tree":      {again("t", 2), nexus.TDDLite, 1, repair.Review},
		"it approved another":       {again("u", 2), nexus.TDDLite, 1, repair.Verify},
		"something was asked since": {again("t", 2), nexus.TDDLite, 2, repair.Verify},
		"nobody asked":              {again("t", 1), nexus.TDDLite, 0, repair.Review},
	} {
		step := repair.NextRepairStep(&state.TaskState{Task: task}, with(c.way, c.facts...), nexus.Limits{Same: 9, ReviewRounds: 9}, repair.AttemptTreeFacts{Tested: true, Asked: c.asked})
		if step.Move != c.want {
			t.Errorf("%s: %+v", name, step)
		}
	}
}
