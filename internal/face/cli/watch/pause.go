package watch

import (
	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func pauseCommand(a *frame.Console) *cobra.Command {
	return request(a, "pause [--run RUN] [--json]", "pause every agent at its next turn", 0, func(_ []string) nexus.Request {
		return nexus.Request{Verb: nexus.VerbPause}
	})
}
