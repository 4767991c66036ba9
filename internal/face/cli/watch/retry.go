package watch

import (
	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func retryCommand(a *frame.App) *cobra.Command {
	var text string
	c := request(a, "retry TASK [--tell TEXT] [--run RUN] [--json]", "give a parked, failed or skipped task another chance", 1, func(args []string) nexus.Request {
		return nexus.Request{Verb: nexus.VerbRetry, Task: nexus.TaskID(args[0]), Text: text}
	})
	c.Flags().StringVar(&text, "tell", "", "`TEXT` that the agent hears before it goes on: what to do otherwise")
	return c
}
