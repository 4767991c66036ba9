package journalcmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// ShowOptions are the options of "nexus journal show".
type ShowOptions struct {
	Console *console.Console
	Run     string // as a person names it; empty: the default run
}

// NewShow returns the command "nexus journal show". It calls run with the parsed options; nil runs
// the command.
func NewShow(c *console.Console, run func(context.Context, *ShowOptions) error) *cobra.Command {
	o := &ShowOptions{Console: c}
	if run == nil {
		run = func(ctx context.Context, o *ShowOptions) error { return showEvents(ctx, o.Console, o.Run) }
	}
	command := c.Command("show [RUN] [--run RUN]", "print the events of a run in readable form", func(ctx context.Context, args []string) (err error) {
		if o.Run, err = console.NamedRun(o.Run, args); err != nil {
			return err
		}
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(0, 1)
	c.RunFlag(command, &o.Run)
	return command
}

// showEvents prints the events of a run in readable form.
func showEvents(ctx context.Context, a *console.Console, run string) error {
	p, err := a.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	r, err := a.FindRun(ctx, p, run)
	if err != nil {
		return err
	}
	style := a.Style(a.Out)
	return printEvents(ctx, p, r.ID, func(e nexus.Event) error { return a.Print(view.DrawEvent(style, e) + "\n") })
}

// printEventLines prints the events of a run, of all runs for "", as JSON lines.
func printEventLines(ctx context.Context, a *console.Console, run string) error {
	p, err := a.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	r, err := p.FindRun(ctx, run)
	if err != nil {
		return err
	}
	if run == "" {
		r.ID = ""
	}
	return printEvents(ctx, p, r.ID, a.PrintEventJSON)
}

// printEvents passes the events of a run, of all runs for "", to a function.
func printEvents(ctx context.Context, p *app.Repository, run nexus.RunID, printEvent func(nexus.Event) error) error {
	for e, err := range p.Journal.Events(ctx, run, 0) {
		if err == nil {
			err = printEvent(e)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
