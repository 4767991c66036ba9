package app

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Deliver publishes what landed in a run that nobody conducts, and lands it
// where that was asked for, as far as people agreed to it. No task is worked
// on, and no model is asked but to resolve a conflict with a target that moved.
func (a *App) Deliver(ctx context.Context, p *Repository, id nexus.RunID, w Watcher) (*state.State, error) {
	return a.finishRun(ctx, p, RunOptions{Run: id, Headless: true, deliver: true}, w)
}

// Stop ends a run that nobody conducts, and that has not ended, as stopped.
func (a *App) Stop(ctx context.Context, p *Repository, id nexus.RunID, why string, w Watcher) (*state.State, error) {
	return a.finishRun(ctx, p, RunOptions{Run: id, Headless: true, deliver: true, stop: why}, w)
}

// finishRun takes up a run without working on a task.
func (a *App) finishRun(ctx context.Context, p *Repository, o RunOptions, w Watcher) (*state.State, error) {
	settings, _, err := a.Settings()
	if err != nil {
		return nil, err
	}
	settings.StatusFile = ""
	return a.Conduct(ctx, p, settings, &o, w)
}

// CanDeliver reports whether a run that nobody conducts can be delivered: it
// ended, or its process died when nothing but that was left to do.
func CanDeliver(s *state.State) bool {
	return len(s.Landings) > 0 && (s.Status.Ended() || s.IsDelivering())
}
