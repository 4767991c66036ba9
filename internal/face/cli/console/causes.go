package console

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/causes"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Explain adds to what is told about a run why tasks did not land and what to do, as nexus diagnose finds it.
// It adds nothing where the run continues or everything landed.
func Explain(ctx context.Context, p *app.Repository, s *state.State, v *view.Run) error {
	if !s.Status.Ended() || s.Status == nexus.StatusDone {
		return nil
	}
	var events []nexus.Event
	for e, err := range p.Journal.Events(ctx, s.Run, 0) {
		if err != nil {
			return err
		}
		events = append(events, e)
	}
	v.Causes = causes.Blocking(s, events)
	return nil
}
