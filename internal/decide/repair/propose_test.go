package repair_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestProposedStrategy takes what a plugin proposes where neither the plan nor the run
// says anything else, and never that there are no tests.
func TestProposedStrategy(t *testing.T) {
	proposed := nexus.TaskRouted{Complexity: nexus.Simple, Strategy: nexus.TDDSimple, By: "plugin p"}
	for name, c := range map[string]struct {
		r      nexus.Routing
		task   nexus.Task
		routed nexus.TaskRouted
		want   nexus.Strategy
	}{
		"proposed":        {nexus.Routing{}, nexus.Task{}, proposed, nexus.TDDSimple},
		"the plan wins":   {nexus.Routing{}, nexus.Task{Strategy: nexus.TestAfter}, proposed, nexus.TestAfter},
		"the run wins":    {nexus.Routing{Strategy: nexus.TDDStrict}, nexus.Task{}, proposed, nexus.TDDStrict},
		"nothing to test": {nexus.Routing{Untested: true}, nexus.Task{}, proposed, nexus.TestAfter},
		"no tests":        {nexus.Routing{}, nexus.Task{}, nexus.TaskRouted{Complexity: nexus.Simple, Strategy: nexus.NoTest}, nexus.TestAfter},
	} {
		if got, why := repair.ChooseStrategy(c.r, c.task, c.routed); got != c.want || why == "" {
			t.Errorf("%s: %s (%s), want %s", name, got, why, c.want)
		}
	}
}
