// Package importcmd implements the command "nexus import".
package importcmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/journalcmd"
)

// Options are the options of the command.
type Options struct {
	Console  *console.Console
	From     string // file that an export wrote
	Continue bool   // import the run to continue it here, not only to look at it
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = func(ctx context.Context, o *Options) error {
			return journalcmd.ImportRun(ctx, o.Console, o.From, !o.Continue)
		}
	}
	command := c.Command("import FILE", "import a run from another machine, to look at it", func(ctx context.Context, args []string) error {
		o.From = args[0]
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(1, 1)
	command.Flags().BoolVar(&o.Continue, "continue", false, "import it to continue it here; the repository must have the commit that it started from")
	c.JSONFlag(command)
	return command
}
