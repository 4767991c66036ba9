package bench

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/run/sim"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

func estimatesCommand(a *console.Console) *cobra.Command {
	var s benchmarkFlags
	c := a.Command("estimates [flags]", "compare estimates with the time that generated runs take", func(_ context.Context, _ []string) error {
		if err := s.checkFlags(10_000); err != nil {
			return err
		}
		f := sim.MeasureEstimates(s.seed, s.n) //nolint:contextcheck // it touches nothing outside
		if err := a.Answer(f, func(v view.OutputStyle) string { return drawEstimateAccuracy(v, f) }); err != nil || f.Problem == "" {
			return err
		}
		return console.ExitError(console.CodeFailed)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeInterrupted)
	s.addFlags(a, c, 25, "generated repositories, each with six runs")
	return c
}

func drawEstimateAccuracy(s view.OutputStyle, f sim.EstimateQuality) string {
	text := fmt.Sprintf("%s of the ranges of remaining time held: %s, asked %d times\n", s.Bold(fmt.Sprintf("%.3f", f.Right)), view.CountWithNoun(f.Runs, "run"), f.Asked)
	text += fmt.Sprintf("  %.3f took less, %.3f took more; %d times too few tasks had landed to say\n", f.Early, f.Late, f.Unknown)
	text += fmt.Sprintf("  the upper end of the middle range is %.1f times its lower end\n", f.Wide)
	text += fmt.Sprintf("%s of %s estimated from history took a time in their range\n", s.Bold(fmt.Sprintf("%.3f", f.Held)), view.CountWithNoun(f.Tasks, "task"))
	if f.Problem != "" {
		text += s.Bad("stopped: ") + view.EscapeLinesForTerminal(f.Problem) + "\n"
	}
	return text
}
