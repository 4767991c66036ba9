package runscmd

import (
	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func pauseCommand(a *console.Console) *cobra.Command {
	return request(a, "pause [--run RUN] [--json]", "pause every agent at its next turn", 0, func(_ []string) nexus.Request {
		return nexus.Request{Verb: nexus.VerbPause}
	})
}
