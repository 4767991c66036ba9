// Package answercmd implements the command "nexus answer".
package answercmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/runrequest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Options are the options of the command.
type Options struct {
	Console  *console.Console
	Run      string // as a person names it; empty: the default run
	ID, Text string // of the question, and the answer
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = sendAnswer
	}
	command := c.Command("answer ID TEXT [--run RUN] [--json]", "answer an agent's question",
		func(ctx context.Context, args []string) error {
			o.ID, o.Text = args[0], args[1]
			return run(ctx, o)
		}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(2, 2)
	c.RunFlag(command, &o.Run)
	c.JSONFlag(command)
	return command
}

// sendAnswer sends the answer to the run.
func sendAnswer(ctx context.Context, o *Options) error {
	return runrequest.Send(ctx, o.Console, o.Run, nexus.Request{Verb: nexus.VerbAnswer, ID: o.ID, Text: o.Text})
}
