// Package policycmd implements the command "nexus policy check".
package policycmd

import (
	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
)

// New returns the command "nexus policy" with the one below it.
func New(c *console.Console) *cobra.Command {
	return c.ParentCommand("policy", "show what agents may do", NewCheck(c, nil))
}
