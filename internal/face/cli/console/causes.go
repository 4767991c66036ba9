package console

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/failurecauses"
)

// AddCauses adds to the view of a run why tasks did not land and the next steps, as nexus diagnose
// finds them. It adds nothing if the run is in progress or everything landed.
func AddCauses(ctx context.Context, p *app.Repository, s *state.State, v *view.RunView) error {
	if !s.Status.HasEnded() || s.Status == nexus.StatusDone {
		return nil
	}
	var events []nexus.Event
	for e, err := range p.Journal.Events(ctx, s.Run, 0) {
		if err != nil {
			return err
		}
		events = append(events, e)
	}
	v.Causes = failurecauses.BlockingCauses(s, events)
	return nil
}
