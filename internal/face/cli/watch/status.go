package watch

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

func statusCommand(a *frame.App) *cobra.Command {
	c := a.Command("status [RUN] [--json]", "say where a run stands", func(ctx context.Context, args []string) error {
		return a.Look(ctx, frame.First(args), func(_ *frame.Place, r journal.Run, s *state.State) error {
			v := a.Tell(r, s)
			return a.Answer(v, func(s view.Style) string { return view.Status(s, v) })
		})
	}, frame.CodeOK, frame.CodeFailed, frame.CodeUsage)
	c.Args = frame.Takes(0, 1)
	a.JSONFlag(c)
	return c
}
