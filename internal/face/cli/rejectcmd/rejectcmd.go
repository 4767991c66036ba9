// Package rejectcmd implements the command "nexus reject".
package rejectcmd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/runrequest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Options are the options of the command.
type Options struct {
	Console *console.Console
	Run     string // as a person names it; empty: the default run
	ID      string // of the question
	Reason  string // for the agent or the planner; empty: none
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = sendRefusal
	}
	command := c.Command("reject ID [--why TEXT] [--run RUN] [--json]", "refuse a plan, or a command that an agent asks about",
		func(ctx context.Context, args []string) error {
			o.ID, o.Reason = args[0], strings.TrimSpace(o.Reason)
			return run(ctx, o)
		}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(1, 1)
	command.Flags().StringVar(&o.Reason, "why", "",
		"reason, as `TEXT`, for the agent; for a plan, what should be different: another plan is made")
	c.RunFlag(command, &o.Run)
	c.JSONFlag(command)
	return command
}

// sendRefusal refuses what the question asks for.
func sendRefusal(ctx context.Context, o *Options) error {
	text := "no"
	if o.Reason != "" {
		text += ": " + o.Reason
	}
	return runrequest.Send(ctx, o.Console, o.Run, nexus.Request{Verb: nexus.VerbAnswer, ID: o.ID, Text: text})
}
