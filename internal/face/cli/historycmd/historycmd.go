// Package historycmd implements the commands about many runs: their results, and the
// differences between two of them.
package historycmd

import (
	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
)

// Commands returns the commands.
func Commands(a *console.Console) []*cobra.Command {
	runs := runsCommand(a)
	runs.AddCommand(compareCommand(a))
	return []*cobra.Command{runs, historyCommand(a)}
}
