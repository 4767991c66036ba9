package repair_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestProposedStrategy takes what a plugin proposes where neither the plan nor the run
// says anything else, and never that there are no tests.
func TestProposedStrategy(t *testing.T) {
	proposed := nexus.StartTierChosen{Complexity: nexus.Simple, Strategy: nexus.TDDSimple, By: "plugin p"}
	for name, c := range map[string]struct {
		r      nexus.StartTierRules
		task   nexus.Task
		routed nexus.StartTierChosen
		want   nexus.WritingStrategy
	}{
		"proposed":        {nexus.StartTierRules{}, nexus.Task{}, proposed, nexus.TDDSimple},
		"the plan wins":   {nexus.StartTierRules{}, nexus.Task{Strategy: nexus.TestAfter}, proposed, nexus.TestAfter},
		"the run wins":    {nexus.StartTierRules{Strategy: nexus.TDDStrict}, nexus.Task{}, proposed, nexus.TDDStrict},
		"nothing to test": {nexus.StartTierRules{Untested: true}, nexus.Task{}, proposed, nexus.TestAfter},
		"no tests":        {nexus.StartTierRules{}, nexus.Task{}, nexus.StartTierChosen{Complexity: nexus.Simple, Strategy: nexus.NoTest}, nexus.TestAfter},
	} {
		if got, why := repair.ChooseStrategy(c.r, c.task, c.routed); got != c.want || why == "" {
			t.Errorf("%s: %s (%s), want %s", name, got, why, c.want)
		}
	}
}
