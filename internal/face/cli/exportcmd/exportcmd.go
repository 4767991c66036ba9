// Package exportcmd implements the command "nexus export".
package exportcmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/journalcmd"
)

// Options are the options of the command.
type Options struct {
	Console *console.Console
	Run     string // as a person names it; empty: the default run
	To      string // a new file
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = func(ctx context.Context, o *Options) error { return journalcmd.ExportRun(ctx, o.Console, o.Run, o.To) }
	}
	command := c.Command("export [RUN] FILE [--run RUN]", "write a run to a file that opens anywhere", func(ctx context.Context, args []string) (err error) {
		o.To = args[len(args)-1]
		if o.Run, err = console.NamedRun(o.Run, args[:len(args)-1]); err != nil {
			return err
		}
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeHeld)
	command.Args = console.ArgCount(1, 2)
	c.RunFlag(command, &o.Run)
	c.JSONFlag(command)
	return command
}
