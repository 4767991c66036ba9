package app

import (
	"context"
	"errors"

	"github.com/nexus-ai-builder/nexus/internal/decide/schedule"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/attempt"
)

// PreviewNextRequest returns the request that would be sent for a task now, with the present settings;
// fresh is true if it would begin an attempt. It calls no model and changes nothing of the run.
func (a *App) PreviewNextRequest(ctx context.Context, p *Repository, s *state.State, t *state.TaskState, role nexus.Role) (u attempt.PromptPreview, fresh bool, err error) {
	settings, _, err := a.LoadSettings()
	if err != nil {
		return u, false, err
	}
	m, release, err := a.buildMachine(ctx, p, settings, RunOptions{Run: s.Run, Headless: true, deliver: true})
	if err != nil {
		return u, false, err
	}
	defer func() { err = errors.Join(err, release()) }()
	v, fresh := schedule.UpcomingView(s, t)
	u, err = attempt.PreviewPrompt(ctx, m.Worker, v, role)
	return u, fresh, err
}
