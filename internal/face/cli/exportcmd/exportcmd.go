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
	Run     string
	To      string // a new file
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = func(ctx context.Context, o *Options) error { return journalcmd.ExportRun(ctx, o.Console, o.Run, o.To) }
	}
	command := c.Command("export RUN FILE", "write a run to a file that opens anywhere", func(ctx context.Context, args []string) error {
		o.Run, o.To = args[0], args[1]
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeHeld)
	command.Args = console.ArgCount(2, 2)
	c.JSONFlag(command)
	return command
}
