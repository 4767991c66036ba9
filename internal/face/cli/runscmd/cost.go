package runscmd

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

func costCommand(a *console.Console) *cobra.Command {
	var by []string
	c := a.Command("cost [RUN] [--by WAY]... [--json]", "show what a run cost: by task, role, model and more", func(ctx context.Context, args []string) error {
		ways, err := parseBreakdowns(by)
		if err != nil {
			return err
		}
		return a.ReadRun(ctx, console.FirstArg(args), func(_ *app.Repository, _ journal.RecordedRun, s *state.State) error {
			v := view.BillOf(s)
			return a.Answer(v, func(s view.Style) string { return view.DrawBill(s, v, ways...) })
		})
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.ArgCount(0, 1)
	a.JSONFlag(c)
	c.Flags().StringSliceVar(&by, "by", nil, "show only these `WAYS`: task, attempt, session, role, purpose, tier, model, provider")
	return c
}

// parseBreakdowns parses the breakdowns of a cost; none means the usual ones.
func parseBreakdowns(names []string) ([]budget.CostBreakdown, error) {
	if len(names) == 0 {
		return []budget.CostBreakdown{budget.ByTask, budget.ByRole, budget.ByTier, budget.ByModel}, nil
	}
	ways := make([]budget.CostBreakdown, len(names))
	for i, name := range names {
		if ways[i] = budget.CostBreakdown(name); !slices.Contains(budget.CostBreakdowns(), ways[i]) {
			return nil, &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "unknown --by value " + view.Quote(name),
				Hint: "Use task, attempt, session, role, purpose, tier, model or provider.",
			}
		}
	}
	return ways, nil
}
