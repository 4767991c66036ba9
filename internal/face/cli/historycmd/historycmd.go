// Package historycmd holds the commands that look back over many runs: what they
// came to, how two of them differ, and what new runs learn from them.
package historycmd

import (
	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
)

// Commands returns the commands.
func Commands(a *console.Console) []*cobra.Command {
	runs := runsCommand(a)
	runs.AddCommand(compareCommand(a))
	return []*cobra.Command{runs, historyCommand(a), lessonsCommand(a)}
}
