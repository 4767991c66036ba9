package watch

import (
	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func stopCommand(a *frame.App) *cobra.Command {
	var now bool
	c := request(a, "stop [--now] [--run RUN] [--json]", "end a run; what landed stays", 0, func([]string) nexus.Request {
		return nexus.Request{Verb: nexus.VerbStop, Now: now}
	})
	c.Flags().BoolVar(&now, "now", false, "do not let agents finish their turn")
	return c
}
