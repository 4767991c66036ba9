// Package costcmd implements the command "nexus cost".
package costcmd

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/budget"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// Options are the options of the command.
type Options struct {
	Console    *console.Console
	Run        string                 // as a person names it; empty: the run in progress, else the latest
	Breakdowns []budget.CostDimension // the tables to print; empty: task, role, tier and model
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = printCost
	}
	var by []string
	command := c.Command("cost [RUN] [--by WAY]... [--json]", "show what a run cost: by task, role, model and more",
		func(ctx context.Context, args []string) (err error) {
			if o.Run, err = console.NamedRun(o.Run, args); err != nil {
				return err
			}
			if o.Breakdowns, err = parseBreakdowns(by); err != nil {
				return err
			}
			return run(ctx, o)
		}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(0, 1)
	c.RunFlag(command, &o.Run)
	c.JSONFlag(command)
	command.Flags().StringSliceVar(&by, "by", nil, "show only these `WAYS`: task, attempt, session, role, purpose, tier, model, provider")
	return command
}

// printCost prints the bill of the run.
func printCost(ctx context.Context, o *Options) error {
	return o.Console.ReadRun(ctx, o.Run, func(_ *app.Repository, _ journal.RecordedRun, s *state.State) error {
		bill := view.BillOf(s)
		return o.Console.Answer(bill, func(s view.OutputStyle) string { return view.DrawBill(s, bill, o.Breakdowns...) })
	})
}

// parseBreakdowns parses the breakdowns of a cost; none means the usual ones.
func parseBreakdowns(names []string) ([]budget.CostDimension, error) {
	if len(names) == 0 {
		return []budget.CostDimension{budget.ByTask, budget.ByRole, budget.ByTier, budget.ByModel}, nil
	}
	ways := make([]budget.CostDimension, len(names))
	for i, name := range names {
		if ways[i] = budget.CostDimension(name); !slices.Contains(budget.CostDimensions(), ways[i]) {
			return nil, &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "unknown --by value " + view.QuoteForTerminal(name),
				Hint: "Use task, attempt, session, role, purpose, tier, model or provider.",
			}
		}
	}
	return ways, nil
}
