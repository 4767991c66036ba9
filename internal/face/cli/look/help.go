package look

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
)

// Help makes `nexus help COMMAND` what `nexus COMMAND --help` is.
func Help(a *frame.Console) *cobra.Command {
	var c *cobra.Command
	c = a.Command("help [COMMAND...]", "print help for a command", func(_ context.Context, args []string) error {
		about, rest, err := c.Root().Find(args)
		if err != nil || len(rest) > 0 {
			return app.NotFound("command", strings.Join(args, " "), "nexus --help lists them.")
		}
		return about.Help()
	}, frame.CodeOK, frame.CodeUsage)
	c.Args = frame.Takes(0, -1)
	c.Hidden = true
	return c
}
