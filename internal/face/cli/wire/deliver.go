package wire

import (
	"context"
	"errors"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
	"github.com/nexus-ai-builder/nexus/internal/face/statusfile"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

// Deliver publishes what landed in a run that nobody conducts, and lands it
// where that was asked for, as far as people agreed to it. No task is worked
// on, and no model is asked but to resolve a conflict with a target that moved.
func Deliver(ctx context.Context, a *frame.Console, p *app.Place, run nexus.RunID) (view.Run, error) {
	return finish(ctx, a, p, Order{Run: run, Headless: true, deliver: true})
}

// Stop ends a run that nobody conducts, and that has not ended, as stopped.
func Stop(ctx context.Context, a *frame.Console, p *app.Place, run nexus.RunID, why string) (view.Run, error) {
	return finish(ctx, a, p, Order{Run: run, Headless: true, deliver: true, stop: why})
}

// finish takes up a run without working on a task.
func finish(ctx context.Context, a *frame.Console, p *app.Place, o Order) (view.Run, error) {
	settings, _, err := a.Settings()
	if err != nil {
		return view.Run{}, err
	}
	settings.StatusFile = ""
	s, err := conduct(ctx, a, p, settings, &o, statusfile.Options{})
	if s == nil {
		return view.Run{}, err
	}
	return a.Tell(journal.Run{ID: o.Run}, s), err
}

// Undelivered reports whether a run that nobody conducts can be delivered: it
// ended, or its process died when nothing but that was left to do.
func Undelivered(s *state.State) bool {
	return len(s.Landings) > 0 && (s.Status.Ended() || s.Delivering())
}

// Deliverer returns what delivers the runs that people agree to publish by a
// channel, while nobody conducts them.
func Deliverer(a *frame.Console, p *app.Place, say func(string, ...any)) func(context.Context, nexus.RunID) error {
	return func(ctx context.Context, run nexus.RunID) error {
		quiet := a.Copy()
		quiet.Quiet, quiet.JSON = true, false
		v, err := Deliver(ctx, quiet, p, run)
		switch {
		case errors.Is(err, &nexus.Error{Code: nexus.CodeRunHeld}):
			return nil // whoever holds it hears of it, too
		case err != nil:
			return err
		}
		say("run %s: %s", run, v.Delivered())
		return nil
	}
}
