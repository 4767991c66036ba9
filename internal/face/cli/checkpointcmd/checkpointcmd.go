// Package checkpointcmd implements the command "nexus checkpoint": it names points of runs, shows
// them, goes back to them, and starts other runs from them.
package checkpointcmd

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

// Options are the options of nexus checkpoint NAME.
type Options struct {
	Console *console.Console
	Run     string // as a person names it; empty: the default run
	Name    string // of the new checkpoint
	Reason  string // why a person makes it; empty: not said
}

// New returns the command with its subcommands. It calls run with the parsed options; nil runs the
// command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = nameCurrentPoint
	}
	const about = "name a point of a run, go back to it, or start a run from it"
	command := c.Command("checkpoint NAME [--why TEXT] [--run RUN] [--json]", about, func(ctx context.Context, args []string) error {
		o.Name = args[0]
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(1, 1)
	command.Flags().StringVar(&o.Reason, "why", "", "`TEXT` that says why you make the checkpoint")
	c.RunFlag(command, &o.Run)
	c.JSONFlag(command)
	command.AddCommand(NewList(c, nil), NewShow(c, nil), NewDiff(c, nil), NewRestore(c, nil), NewFork(c, nil))
	return command
}

// nameCurrentPoint makes the checkpoint.
func nameCurrentPoint(ctx context.Context, o *Options) error {
	return o.Console.ChangeRun(ctx, o.Run, func(p *app.Repository, r journal.RecordedRun, s *state.State) error {
		if err := console.RefuseLoop(s); err != nil {
			return err
		}
		return makeCheckpoint(ctx, o.Console, p, r, o.Name, o.Reason)
	})
}

const (
	farewell = 60 * time.Second // time to wait for a run to stop
	again    = 50 * time.Millisecond
)

// stopAndWait stops a run that has a conductor at once, and waits until it has none.
func stopAndWait(ctx context.Context, a *console.Console, p *app.Repository, run nexus.RunID) error {
	ctx, cancel := context.WithTimeoutCause(ctx, farewell, &nexus.Error{
		Code: nexus.CodeRunHeld, Message: "run " + string(run) + " does not stop", Hint: "See nexus status; nothing was changed.",
	})
	defer cancel()
	if _, err := p.Journal.Ask(ctx, run, nexus.Request{Verb: nexus.VerbStop, Now: true, By: a.UserName()}); err != nil {
		return err
	}
	for {
		r, err := p.FindRun(ctx, string(run))
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil || r.Holder == nil:
			return err
		}
		select {
		case <-time.After(again):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
