package local

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/route"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/plugin"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// askRouterPlugins asks plugins for the start tiers of tasks: each one only about those for which the
// ones before it had no proposal.
func (m *LocalExecutor) askRouterPlugins(ctx context.Context, f nexus.ComplexityRatingStarted, v state.WorkerView, d worker.AttemptFactRecorder) ([]nexus.ComplexityRating, error) {
	var told []nexus.ComplexityRating
	for _, p := range m.Worker.Site.Plugins.PluginsOfKind(nexus.PluginRouter) {
		var outputs []*plugin.RouterOutput
		var questions []worker.OwnedPluginQuestion
		for _, t := range v.Tasks {
			has := func(r nexus.ComplexityRating) bool { return r.Task == t.ID }
			if !slices.Contains(f.Tasks, t.ID) || slices.ContainsFunc(told, has) || !route.NeedsPlugin(v.Goal.Routing, t) {
				continue
			}
			out := &plugin.RouterOutput{}
			outputs = append(outputs, out)
			questions = append(questions, worker.OwnedPluginQuestion{
				HostQuestion: plugin.HostQuestion{Input: plugin.RouterInput{
					Goal: v.Goal.Goal.Text, Task: plugin.NewPluginTask(t), Complexity: nexus.Complexities(),
					Tiers: []nexus.Tier{nexus.Fast, nexus.Balanced, nexus.Strong}, Strategies: plugin.RouterStrategies(),
				}, Output: out},
				Of: nexus.PluginAnswered{Task: t.ID}, About: func() string { return routerProposalText(*out) },
			})
		}
		answered, err := m.Worker.Site.AskPlugin(ctx, p, nexus.PluginRouter, questions, d, d.Record)
		if err != nil {
			return nil, err
		}
		for i, out := range outputs {
			if answered[i] && out.Complexity != "" {
				told = append(told, nexus.ComplexityRating{
					Task: questions[i].Of.Task, Complexity: out.Complexity, Tier: out.Tier, Strategy: out.Strategy, Why: out.Why, Plugin: p.Name,
				})
			}
		}
	}
	return told, nil
}

// routerProposalText describes a proposal in a few words.
func routerProposalText(o plugin.RouterOutput) string {
	if o.Complexity == "" {
		return ""
	}
	words := []string{string(o.Complexity)}
	if o.Tier != "" {
		words = append(words, fmt.Sprintf("tier %s", o.Tier))
	}
	if o.Strategy != "" {
		words = append(words, fmt.Sprintf("strategy %s", o.Strategy))
	}
	return "proposes " + strings.Join(words, ", ")
}
