package bench

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/run/sim"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

func budgetCommand(a *console.Console) *cobra.Command {
	var s benchmarkFlags
	c := a.Command("budget [flags]", "simulate workers that spend at once, and check their limits", func(_ context.Context, _ []string) error {
		if err := s.checkFlags(1_000_000); err != nil {
			return err
		}
		r, err := sim.MeasureOvershoot(s.seed, s.n)
		if err != nil {
			return err
		}
		if err := a.Answer(r, func(v view.OutputStyle) string { return drawBudget(v, r) }); err != nil || r.Violations == 0 {
			return err
		}
		return console.ExitError(console.CodeFailed)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeInterrupted)
	s.addFlags(a, c, 1000, "runs to simulate, with 32 workers each; up to four share a daily limit")
	return c
}

func drawBudget(s view.OutputStyle, r sim.CapOvershootReport) string {
	var b strings.Builder
	verdict := s.Good("no cap passed by more than one reserved call")
	if r.Violations > 0 {
		verdict = s.Bad(view.CountWithNoun(r.Violations, "violation"))
	}
	fmt.Fprintf(&b, "%s in %s from %d on\n", verdict, view.CountWithNoun(r.Runs, "run"), r.First)
	fmt.Fprintf(&b, "  %d model calls, up to %d in flight at once in a run; 32 in %s\n", r.Calls, r.Most, view.CountWithNoun(r.Crowded, "run"))
	fmt.Fprintf(&b, "  %d deaths of a process with %d calls in flight; 16 or more at once in %s\n\n", r.Deaths, r.Lost, view.CountWithNoun(r.DiedFull, "run"))
	fmt.Fprintf(&b, "  %-9s %8s %8s %14s %14s %12s\n", "cap", "runs", "passed", "p99, in calls", "max, in calls", "max")
	for _, c := range r.Caps {
		fmt.Fprintf(&b, "  %-9s %8d %8d %14.2f %14.2f %12s\n", c.Name, c.Held, c.Passed, c.P99, c.Max, c.Money)
	}
	if r.Worst != nil {
		fmt.Fprintf(&b, "\nseed %d: %s\n%s\n", r.Worst.Seed, view.EscapeLinesForTerminal(r.Worst.Violation), view.EscapeLinesForTerminal(r.Worst.Tape))
	}
	return b.String()
}
