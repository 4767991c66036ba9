// Package tellcmd implements the command "nexus tell".
package tellcmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/runrequest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Options are the options of the command.
type Options struct {
	Console    *console.Console
	Run        string // as a person names it; empty: the default run
	Task, Text string
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = sendMessage
	}
	command := c.Command("tell TASK TEXT [--run RUN] [--json]", "send a message to the agent that works on a task",
		func(ctx context.Context, args []string) error {
			o.Task, o.Text = args[0], args[1]
			return run(ctx, o)
		}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(2, 2)
	c.RunFlag(command, &o.Run)
	c.JSONFlag(command)
	return command
}

// sendMessage sends the message to the agent of the task.
func sendMessage(ctx context.Context, o *Options) error {
	return runrequest.SendToTask(ctx, o.Console, o.Run, o.Task, nexus.Request{Verb: nexus.VerbTell, Text: o.Text})
}
