package watch

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

func costCommand(a *frame.App) *cobra.Command {
	c := a.Command("cost [RUN] [--json]", "say what a run cost, by task, role, model and tier", func(ctx context.Context, args []string) error {
		return a.Look(ctx, frame.First(args), func(_ *frame.Place, _ journal.Run, s *state.State) error {
			v := view.CostOf(s)
			return a.Answer(v, func(s view.Style) string { return view.Costs(s, v) })
		})
	}, frame.CodeOK, frame.CodeFailed, frame.CodeUsage)
	c.Args = frame.Takes(0, 1)
	a.JSONFlag(c)
	return c
}
