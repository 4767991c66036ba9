package bench

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/run/sim"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

func scheduleCommand(a *console.Console) *cobra.Command {
	var s benchmarkFlags
	parallel := 64
	c := a.Command("schedule [flags]", "compare the scheduler with the theoretical optimum", func(_ context.Context, _ []string) error {
		if err := s.checkFlags(100_000); err != nil {
			return err
		}
		p := sim.MeasureSchedule(s.n, max(1, parallel), s.seed) //nolint:contextcheck // it touches nothing outside
		if err := a.Answer(p, func(v view.OutputStyle) string { return drawScheduleEfficiency(v, p) }); err != nil || p.Problem == "" {
			return err
		}
		return console.ExitError(console.CodeFailed)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeInterrupted)
	s.addFlags(a, c, 1000, "tasks in the generated plan")
	c.Flags().IntVarP(&parallel, "parallel", "j", parallel, "maximum number `N` of attempts at once")
	return c
}

func drawScheduleEfficiency(s view.OutputStyle, p sim.WorkerUtilization) string {
	text := fmt.Sprintf("%s of the bound: %s for %s, %d at once\n", s.Bold(fmt.Sprintf("%.3f", p.Efficiency)), p.Took, view.CountWithNoun(p.Tasks, "task"), p.Parallel)
	text += fmt.Sprintf("  bound %s = the longer of critical path %s and work %s / %d\n", p.Bound, p.Path, p.Work, p.Parallel)
	text += fmt.Sprintf("  %d of %d landed\n", p.Landed, p.Tasks)
	if p.Problem != "" {
		text += s.Bad("stopped: ") + view.EscapeLinesForTerminal(p.Problem) + "\n"
	}
	return text
}
