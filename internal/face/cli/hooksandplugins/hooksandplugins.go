// Package hooksandplugins reads the hooks and plugins that a repository's configuration declares, and
// draws whether they are trusted and where they run.
package hooksandplugins

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/sys/usercmd"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// DeclarationLoader returns the declarations in a repository's configuration, and their runner.
type DeclarationLoader[T any] = func(ctx context.Context, dir, state string, run nexus.RunID) ([]T, *usercmd.UserCommandRunner, error)

// WithDeclarations opens the repository and passes its hooks or plugins to do.
func WithDeclarations[T any](ctx context.Context, a *console.Console, load DeclarationLoader[T], do func([]T, *usercmd.UserCommandRunner) error) error {
	p, err := a.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	all, runner, err := load(ctx, p.Repo.Work, p.State, "test")
	if err != nil {
		return err
	}
	return do(all, runner)
}

// DrawTrust draws whether a hook or plugin is trusted, and therefore runs.
func DrawTrust(s view.OutputStyle, t trust.TrustState) string {
	if t != trust.StateTrusted {
		return s.Warn(string(t)) + ", not run: see nexus trust"
	}
	return s.Good(string(t))
}

// DrawPlace draws where a hook or plugin runs.
func DrawPlace(s view.OutputStyle, sandboxed bool) string {
	if sandboxed {
		return "in the sandbox"
	}
	return s.Warn("outside of the sandbox")
}
