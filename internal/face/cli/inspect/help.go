package inspect

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
)

// Help makes `nexus help COMMAND` the same as `nexus COMMAND --help`.
func Help(a *console.Console) *cobra.Command {
	var c *cobra.Command
	c = a.Command("help [COMMAND...]", "print help for a command", func(_ context.Context, args []string) error {
		about, rest, err := c.Root().Find(args)
		if err != nil || len(rest) > 0 {
			return app.NotFound("command", strings.Join(args, " "), "nexus --help lists them.")
		}
		return about.Help()
	}, console.CodeOK, console.CodeUsage)
	c.Args = console.Takes(0, -1)
	c.Hidden = true
	return c
}
