// Package pluginscmd implements the commands that show and try plugins: "nexus plugins".
package pluginscmd

import (
	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
)

// New returns the command "nexus plugins" with those below it.
func New(c *console.Console) *cobra.Command {
	return c.ParentCommand("plugins", "show and try programs that answer questions", NewList(c, nil), NewTest(c, nil))
}
