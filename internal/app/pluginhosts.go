package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/plugin"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/sys/usercmd"
)

// PluginsOfRepository returns the plugins of a repository whose state is in a directory, and their runner:
// nil if there are none.
func (a *App) PluginsOfRepository(ctx context.Context, dir, state string, run nexus.RunID) ([]plugin.DeclaredPlugin, *usercmd.UserCommandRunner, error) {
	c, origins, err := a.LoadSettings()
	if err != nil {
		return nil, nil, err
	}
	all, err := plugin.ListPlugins(c, origins)
	if err != nil || len(all) == 0 {
		return nil, nil, err
	}
	runner, err := a.commandRunner(ctx, dir, state, string(run)+"/plugin")
	return all, runner, err
}

// pluginHost returns the host that calls the plugins of a run, nil if there are none. It
// reports and omits untrusted plugins. A required plugin that cannot answer is an error:
// nothing was paid for yet.
func (a *App) pluginHost(ctx context.Context, p *Repository, run nexus.RunID) (*plugin.PluginHost, error) {
	all, runner, err := a.PluginsOfRepository(ctx, p.Repo.Work, p.State, run)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	h := &plugin.PluginHost{Runner: runner, Run: run, Now: a.Now}
	for _, one := range all {
		state, err := one.ReadTrustState(runner)
		switch {
		case err != nil:
			return nil, err
		case state != trust.StateTrusted && !one.Required:
			a.reportUntrustedPlugin(one, state)
			continue
		case one.Required:
			if err := checkPluginStarts(ctx, one, runner); err != nil {
				return nil, err
			}
		}
		h.Plugins = append(h.Plugins, one)
	}
	return h, nil
}

// reportUntrustedPlugin reports that a plugin is not called because it is not trusted.
func (a *App) reportUntrustedPlugin(p plugin.DeclaredPlugin, state trust.TrustState) {
	const hint = "read what it would run with nexus trust, then trust it with nexus trust --yes"
	a.reportText(fmt.Sprintf("plugin %s is left out: it is not trusted (%s); %s", p.Name, state, hint))
}

// checkPluginStarts starts a required plugin to check that it can be called.
func checkPluginStarts(ctx context.Context, p plugin.DeclaredPlugin, r *usercmd.UserCommandRunner) error {
	s, err := p.StartSession(ctx, r)
	if failed, ok := errors.AsType[*plugin.Error](err); ok {
		return plugin.RequiredError(failed)
	}
	if err != nil {
		return err
	}
	s.Close()
	return nil
}

// DiscoveryHost returns the host that calls the discovering plugins, or the one with a name. It
// reports and omits untrusted ones.
func (a *App) DiscoveryHost(ctx context.Context, p *Repository, name string) (*plugin.PluginHost, error) {
	all, runner, err := a.PluginsOfRepository(ctx, p.Repo.Work, p.State, "discover")
	if err != nil {
		return nil, err
	}
	h := &plugin.PluginHost{Runner: runner, Now: a.Now}
	for _, one := range plugin.PluginsOfKind(all, nexus.PluginDiscovery) {
		if name != "" && one.Name != name {
			continue
		}
		state, err := one.ReadTrustState(runner)
		switch {
		case err != nil:
			return nil, err
		case state == trust.StateTrusted:
			h.Plugins = append(h.Plugins, one)
		case name != "" || one.Required:
			why := fmt.Sprintf("it is not trusted (%s)", state)
			return nil, plugin.UnansweredError(&plugin.Error{Plugin: one.Name, State: nexus.PluginUntrusted, Why: why})
		default:
			a.reportUntrustedPlugin(one, state)
		}
	}
	if name != "" && len(h.Plugins) == 0 {
		return nil, NotFoundError("plugin that discovers", name, "nexus plugins list shows the plugins and their kinds.")
	}
	return h, nil
}
