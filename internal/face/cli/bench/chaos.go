package bench

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run/sim"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

func chaosCommand(a *console.Console) *cobra.Command {
	var s benchmarkFlags
	c := a.Command("chaos [flags]", "simulate runs with faults of every kind and check the invariants", func(_ context.Context, _ []string) error {
		if err := s.checkFlags(10_000_000); err != nil {
			return err
		}
		r := sim.PlayChaos(s.seed, s.n, nil) //nolint:contextcheck // it touches nothing outside
		if err := a.Answer(r, func(v view.OutputStyle) string { return drawChaos(v, r) }); err != nil || r.Violations == 0 {
			return err
		}
		return console.ExitError(console.CodeFailed)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeInterrupted)
	s.addFlags(a, c, 2000, "runs to simulate, one per seed")
	return c
}

func (s *benchmarkFlags) checkFlags(most int) error {
	if s.n >= 1 && s.n <= most {
		return nil
	}
	return &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("--n %d is not from 1 to %d", s.n, most), Hint: "Use a number in between.",
	}
}

func drawChaos(s view.OutputStyle, r sim.ChaosTestReport) string {
	var b strings.Builder
	verdict := s.Good("nothing violated")
	if r.Violations > 0 {
		verdict = s.Bad(view.CountWithNoun(r.Violations, "violation"))
	}
	fmt.Fprintf(&b, "%s in %s from %d on\n", verdict, view.CountWithNoun(r.Seeds, "run"), r.First)
	fmt.Fprintf(&b, "  %d events in %d steps, %s of virtual time\n", r.Events, r.Steps, r.Virtual.Round(1e9))
	fmt.Fprintf(&b, "  %d deaths of a process, %d lives, %d of %d tasks landed\n", r.Deaths, r.Lives, r.Landed, r.Tasks)
	fmt.Fprintf(&b, "  %d model calls, %d of them in flight when a process died\n", r.Calls, r.Repeated)
	for _, end := range slices.Sorted(maps.Keys(r.Ends)) {
		fmt.Fprintf(&b, "  %-9s %d\n", end, r.Ends[end])
	}
	if r.Worst != nil {
		fmt.Fprintf(&b, "seed %d: %s\n%s\n", r.Worst.Seed, view.EscapeLinesForTerminal(r.Worst.Violation), view.EscapeLinesForTerminal(r.Worst.Tape))
	}
	return b.String()
}
