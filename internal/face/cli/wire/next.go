package wire

import (
	"context"
	"errors"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/schedule"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run/local"
	"github.com/nexus-ai-builder/nexus/internal/work/attempt"
)

// Next returns what would be sent for a task now, with the settings as they are
// now; fresh says that it would begin an attempt. It asks no model and changes
// nothing of the run.
func Next(ctx context.Context, a *frame.Console, p *app.Place, s *state.State, t *state.Task, role nexus.Role) (u attempt.Upcoming, fresh bool, err error) {
	settings, _, err := a.Settings()
	if err != nil {
		return u, false, err
	}
	w, release, err := world(ctx, a, p, settings, Order{Run: s.Run, Headless: true, deliver: true})
	if err != nil {
		return u, false, err
	}
	defer func() { err = errors.Join(err, release()) }()
	here, ok := w.(*local.World)
	if !ok {
		return u, false, &nexus.Error{Code: nexus.CodeInternal, Message: "the run's work is not done here"}
	}
	v, fresh := schedule.Ahead(s, t)
	u, err = attempt.Next(ctx, here.Shop, v, role)
	return u, fresh, err
}
