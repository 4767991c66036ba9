package journalcmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app/journalmaintenance"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
)

// RepairOptions are the options of "nexus journal repair".
type RepairOptions struct {
	Console *console.Console
}

// NewRepair returns the command "nexus journal repair". It calls run with the parsed options; nil
// runs the command.
func NewRepair(c *console.Console, run func(context.Context, *RepairOptions) error) *cobra.Command {
	o := &RepairOptions{Console: c}
	if run == nil {
		run = repairJournal
	}
	command := c.Command("repair", "keep the events before the first damage, and the damaged journal",
		func(ctx context.Context, _ []string) error { return run(ctx, o) },
		console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeHeld)
	c.JSONFlag(command)
	return command
}

// repairJournal replaces a damaged journal with its intact events.
func repairJournal(ctx context.Context, o *RepairOptions) error {
	p, err := openJournal(ctx, o.Console)
	if err != nil {
		return err
	}
	defer p.Close()
	r, err := journalmaintenance.RepairJournal(ctx, p, o.Console.Now())
	if err != nil {
		return err
	}
	out := journalCopyResult{Path: r.Path, Events: r.Events, Why: r.Why, Whole: r.Aside == "", Aside: r.Aside, Lost: r.Lost}
	return o.Console.Answer(out, out.draw)
}
