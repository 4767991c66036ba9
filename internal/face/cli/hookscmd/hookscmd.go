// Package hookscmd implements the commands that show and try hooks: "nexus hooks".
package hookscmd

import (
	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
)

// New returns the command "nexus hooks" with those below it.
func New(c *console.Console) *cobra.Command {
	return c.ParentCommand("hooks", "show and try commands that run when something happens", NewList(c, nil), NewTest(c, nil))
}
