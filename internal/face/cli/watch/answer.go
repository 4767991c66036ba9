package watch

import (
	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func answerCommand(a *frame.App) *cobra.Command {
	return request(a, "answer ID TEXT [--run RUN] [--json]", "answer an agent's question", 2, func(args []string) nexus.Request {
		return nexus.Request{Verb: nexus.VerbAnswer, ID: args[0], Text: args[1]}
	})
}
