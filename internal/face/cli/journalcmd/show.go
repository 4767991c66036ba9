package journalcmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// ShowOptions are the options of "nexus journal show".
type ShowOptions struct {
	Console *console.Console
	Run     string
}

// NewShow returns the command "nexus journal show". It calls run with the parsed options; nil runs
// the command.
func NewShow(c *console.Console, run func(context.Context, *ShowOptions) error) *cobra.Command {
	o := &ShowOptions{Console: c}
	if run == nil {
		run = func(ctx context.Context, o *ShowOptions) error { return printEvents(ctx, o.Console, o.Run, false) }
	}
	command := c.Command("show RUN", "print the events of a run in readable form", func(ctx context.Context, args []string) error {
		o.Run = args[0]
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(1, 1)
	return command
}

// printEvents prints the events of a run, of all runs without one: as JSON lines, or in readable
// form.
func printEvents(ctx context.Context, a *console.Console, run string, lines bool) error {
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
	style := a.Style(a.Out)
	for e, err := range p.Journal.Events(ctx, r.ID, 0) {
		switch {
		case err != nil:
			return err
		case lines:
			err = a.PrintEventJSON(e)
		default:
			err = a.Print(view.DrawEvent(style, e) + "\n")
		}
		if err != nil {
			return err
		}
	}
	return nil
}
