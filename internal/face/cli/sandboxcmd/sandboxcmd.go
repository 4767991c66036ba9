// Package sandboxcmd implements the command "nexus sandbox exec".
package sandboxcmd

import (
	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
)

// New returns the command "nexus sandbox" with the one below it.
func New(c *console.Console) *cobra.Command {
	return c.ParentCommand("sandbox", "run commands in the sandbox", NewExec(c, nil))
}
