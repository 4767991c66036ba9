package app

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// DeliverRun publishes the landed work of a run that is not running, and lands it if the goal asks
// for that, as far as people agreed to it. No task is worked on, and a model is called only to
// resolve a conflict with a target that moved.
func (a *App) DeliverRun(ctx context.Context, p *Repository, id nexus.RunID, w RunWatcher) (*state.State, error) {
	return a.finishRun(ctx, p, RunOptions{Run: id, Headless: true, deliver: true}, w)
}

// StopRun ends a run that is not running, and that has not ended, as stopped.
func (a *App) StopRun(ctx context.Context, p *Repository, id nexus.RunID, why string, w RunWatcher) (*state.State, error) {
	return a.finishRun(ctx, p, RunOptions{Run: id, Headless: true, deliver: true, stop: why}, w)
}

// finishRun resumes a run without working on a task.
func (a *App) finishRun(ctx context.Context, p *Repository, o RunOptions, w RunWatcher) (*state.State, error) {
	settings, _, err := a.LoadSettings()
	if err != nil {
		return nil, err
	}
	settings.StatusFile = ""
	return a.ConductRun(ctx, p, settings, &o, w)
}

// CanDeliver reports whether a run that is not running can be delivered: it ended, or its
// process died when only the delivery was left.
func CanDeliver(s *state.State) bool {
	return len(s.Landings) > 0 && (s.Status.HasEnded() || s.IsDelivering())
}
