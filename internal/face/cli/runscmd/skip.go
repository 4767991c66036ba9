package runscmd

import (
	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func skipCommand(a *console.Console) *cobra.Command {
	return requestCommand(a, "skip TASK [--run RUN] [--json]", "skip a task", 1, func(args []string) nexus.Request {
		return nexus.Request{Verb: nexus.VerbSkip, Task: nexus.TaskID(args[0])}
	})
}
