package watch

import (
	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func retryCommand(a *frame.App) *cobra.Command {
	return request(a, "retry TASK [--run RUN] [--json]", "give a parked, failed or skipped task another chance", 1, func(args []string) nexus.Request {
		return nexus.Request{Verb: nexus.VerbRetry, Task: nexus.TaskID(args[0])}
	})
}
