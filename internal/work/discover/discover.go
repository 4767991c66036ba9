// Package discover finds work that is worth doing: what plugins say there is to
// do, each with a check that fails now. A finding whose check passes, or cannot be
// tried, is none.
package discover

import (
	"context"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/plugin"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
)

// most is how many findings a plugin is asked for.
const most = 50

// Finding is one thing to do.
type Finding struct {
	plugin.Discovered

	Plugin string          // who found it
	State  nexus.GateState // of its check; empty where it was not tried
	Why    string          // why it is no finding; empty where it is one
}

// Name names a finding among those of all plugins.
func (f Finding) Name() string { return f.Plugin + "/" + f.ID }

// Red reports whether its check fails, so that there is something to do.
func (f Finding) Red() bool { return f.State == nexus.Fail }

// Ask asks a plugin what there is to do in the files of a tree. Bad says which
// findings cannot be used, and an error why it did not answer.
func Ask(ctx context.Context, h *plugin.Host, p plugin.Plugin, tree string) (all []Finding, bad []string, err error) {
	out := &plugin.DiscoveryOutput{}
	q := plugin.Question{Input: plugin.DiscoveryInput{Tree: tree, Most: most}, Output: out}
	answers, err := h.Ask(ctx, p, nexus.PluginDiscovery, []plugin.Question{q}, tree)
	if err != nil {
		return nil, nil, err
	}
	for _, a := range answers {
		if a.State != nexus.PluginOK {
			return nil, nil, &plugin.Error{Plugin: p.Name, State: a.State, Why: a.Why}
		}
	}
	for _, d := range out.Findings[:min(len(out.Findings), most)] {
		all = append(all, Finding{Discovered: d, Plugin: p.Name})
	}
	return all, out.Bad, nil
}

// Try runs the check of a finding on the tree, if may allows its command. Only
// one that fails shows that there is something to do: it is what says later
// that it is done.
func Try(ctx context.Context, r gate.Runner, t gate.Tree, f Finding, may func(command string) bool) (Finding, error) {
	g, ok := detect.Accept(nexus.Criterion{Text: f.Title, Check: f.Check})
	switch {
	case !ok:
		f.Why = "its check is the name of a gate and no command"
		return f, nil
	case !may(g.Command()):
		f.Why = "its check is not run without a sandbox: the policy does not allow it"
		return f, nil
	}
	e, err := r.Judge(ctx, t, g)
	if err != nil {
		return f, err
	}
	switch f.State = e.State; {
	case e.State == nexus.Pass:
		f.Why = "its check passes already"
	case e.State != nexus.Fail:
		f.Why = fmt.Sprintf("its check says nothing (%s): %s", e.State, e.Why)
	}
	return f, nil
}

// Plan returns the plan that does what was found, whose one task may take so
// many minutes.
func (f Finding) Plan(minutes int) *nexus.Plan {
	t := nexus.Task{
		ID: "T1", Title: f.Title, Files: f.Files, Minutes: f.Minutes,
		Brief: fmt.Sprintf("%s\n\nReason: %s\nThis was found by the plugin %s as %s. "+
			"It is done when this command passes, which fails now: %s", f.Title, f.Reason, f.Plugin, f.ID, f.Check),
		Criteria: []nexus.Criterion{{Text: f.Title, Check: f.Check}},
	}
	if t.Minutes > minutes {
		t.Minutes = 0 // a guess of a stranger keeps nothing from being done
	}
	return &nexus.Plan{Version: 1, Goal: f.Title, Tasks: []nexus.Task{t}}
}
