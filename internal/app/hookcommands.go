package app

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/hookcmd"
	"github.com/nexus-ai-builder/nexus/internal/sys/plugin"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/sys/usercmd"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/files"
)

// HooksOfRepository returns the hooks of a repository whose state is in a directory, and their runner: nil
// if there are none.
func (a *App) HooksOfRepository(ctx context.Context, dir, state string, run nexus.RunID) ([]hookcmd.DeclaredHook, *usercmd.UserCommandRunner, error) {
	c, origins, err := a.LoadSettings()
	if err != nil {
		return nil, nil, err
	}
	all, err := hookcmd.ListHooks(c, origins)
	if err != nil || len(all) == 0 {
		return nil, nil, err
	}
	runner, err := a.commandRunner(ctx, dir, state, string(run)+"/hook")
	return all, runner, err
}

// commandRunner returns the runner of hooks and plugins in a repository.
func (a *App) commandRunner(ctx context.Context, dir, state, mark string) (*usercmd.UserCommandRunner, error) {
	c, _, err := a.LoadSettings()
	if err != nil {
		return nil, err
	}
	box, err := FindSandbox(ctx, c)
	if err != nil {
		return nil, err
	}
	open, err := sandbox.FindSandbox(ctx, sandbox.ModeOff)
	if err != nil {
		return nil, err
	}
	open = open.WithLimits(SandboxLimits(c))
	hides := func(dir string) []string {
		root, err := os.OpenRoot(dir)
		if err != nil {
			return nil // a command that cannot read the directory cannot read these either
		}
		defer func() { _ = root.Close() }() // only read
		var paths []string
		for _, f := range (files.HiddenPathRules{Show: c.Policy.Show}).FindHidden(root).Files {
			paths = append(paths, filepath.Join(dir, filepath.FromSlash(f.Name)))
		}
		return paths
	}
	checkout := sync.OnceValue(func() []string { return hides(dir) })
	return &usercmd.UserCommandRunner{
		Box: box, Unboxed: open, Dir: dir, State: state, Env: a.Env, Trust: a.TrustStore(), OpenGateway: a.MCPServerEgress(), Mask: a.Mask.Mask, Mark: mark,
		Learn: func(value string) {
			if mayBeKey(value) {
				a.Mask.AddSecret(value)
			}
		},
		Hidden: func(of string) []string {
			if of == dir {
				return checkout()
			}
			return hides(of)
		},
	}, nil
}

// HookAndPluginTrustItems returns the items that a person must agree to before hooks and plugins run.
func (a *App) HookAndPluginTrustItems(dir string) ([]trust.TrustItem, error) {
	c, origins, err := a.LoadSettings()
	if err != nil {
		return nil, err
	}
	all, err := hookcmd.ListHooks(c, origins)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // only read
	var items []trust.TrustItem
	for _, h := range all {
		if item := h.TrustItem(root); item != nil {
			items = append(items, *item)
		}
	}
	plugins, err := plugin.ListPlugins(c, origins)
	if err != nil {
		return nil, err
	}
	for _, p := range plugins {
		if item := p.TrustItem(root); item != nil {
			items = append(items, *item)
		}
	}
	return items, nil
}

// refusingHooks returns the hooks that may refuse something of a run, and their runner. An
// untrusted hook is an error: it may be there for a reason.
func (a *App) refusingHooks(ctx context.Context, p *Repository, run nexus.RunID) ([]hookcmd.DeclaredHook, *usercmd.UserCommandRunner, error) {
	all, runner, err := a.HooksOfRepository(ctx, p.Repo.Work, p.State, run)
	if err != nil {
		return nil, nil, err
	}
	all = slices.DeleteFunc(all, func(h hookcmd.DeclaredHook) bool { return !h.MayRefuse() })
	if len(all) == 0 {
		return nil, nil, nil
	}
	root, err := os.OpenRoot(p.Repo.Work)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = root.Close() }() // only read
	var items []trust.TrustItem
	for _, h := range all {
		if item := h.TrustItem(root); item != nil {
			items = append(items, *item)
		}
	}
	return all, runner, a.TrustStore().CheckTrusted(p.Repo.Work, items)
}
