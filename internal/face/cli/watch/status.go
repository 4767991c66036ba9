package watch

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/face/view/criteria"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

// standing is where a run stands, with what is known of the criteria of each
// of its tasks.
type standing struct {
	view.Run
	Criteria []criteria.Count `json:"criteria,omitempty"`
}

func statusCommand(a *frame.App) *cobra.Command {
	c := a.Command("status [RUN] [--json]", "say where a run stands", func(ctx context.Context, args []string) error {
		return a.Look(ctx, frame.First(args), func(p *frame.Place, r journal.Run, s *state.State) error {
			t, err := table(ctx, p, r.ID, s)
			if err != nil {
				return err
			}
			v := standing{Run: a.Tell(r, s), Criteria: criteria.ByTask(t)}
			return a.Answer(v, func(s view.Style) string { return view.Status(s, v.Run) + criteria.Lines(s, v.Criteria) })
		})
	}, frame.CodeOK, frame.CodeFailed, frame.CodeUsage)
	c.Args = frame.Takes(0, 1)
	a.JSONFlag(c)
	return c
}
