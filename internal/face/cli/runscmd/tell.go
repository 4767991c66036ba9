package runscmd

import (
	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func tellCommand(a *console.Console) *cobra.Command {
	return requestCommand(a, "tell TASK TEXT [--run RUN] [--json]", "send a message to the agent that works on a task", 2, func(args []string) nexus.Request {
		return nexus.Request{Verb: nexus.VerbTell, Task: nexus.TaskID(args[0]), Text: args[1]}
	})
}
