// Package toolcmd implements the commands that list and call agents' tools: "nexus tool".
package toolcmd

import (
	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
)

// New returns the command "nexus tool" with those below it.
func New(c *console.Console) *cobra.Command {
	return c.ParentCommand("tool", "list the agents' tools, or call one", NewList(c, nil), NewCall(c, nil))
}
