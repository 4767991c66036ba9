package inspect

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
)

// SetUpHelp makes `nexus help COMMAND` the same as `nexus COMMAND --help`.
func SetUpHelp(a *console.Console) *cobra.Command {
	var c *cobra.Command
	c = a.Command("help [COMMAND... | all]", "print help for a command, or list all", func(_ context.Context, args []string) error {
		if slices.Equal(args, []string{"all"}) {
			return a.Print(console.CommandList(c.Root(), a.Style(a.Out)))
		}
		about, rest, err := c.Root().Find(args)
		if err != nil || len(rest) > 0 {
			return app.NotFoundError("command", strings.Join(args, " "), "nexus help all lists them.")
		}
		return about.Help()
	}, console.CodeOK, console.CodeUsage)
	c.Args = console.ArgCount(0, -1)
	c.Hidden = true
	return c
}
