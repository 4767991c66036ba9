package look

import (
	"context"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/run/sim"
)

func benchCommand(a *frame.App) *cobra.Command {
	return a.Parent("bench", "measure the orchestrator", chaosCommand(a), scheduleCommand(a))
}

func chaosCommand(a *frame.App) *cobra.Command {
	var seed uint64
	var n int
	c := a.Command("chaos [--seed S] [--n N] [--json]", "play faulty worlds, and count what breaks", func(context.Context, []string) error {
		began := a.Now()
		r := sim.Chaos(seed, n, nil) //nolint:contextcheck // a simulation has a world of its own
		took := a.Now().Sub(began)
		err := a.Answer(r, func(s view.Style) string {
			rows := [][]string{
				{"seeds", fmt.Sprintf("%s, from %d", view.Number(int64(r.Seeds)), r.First)},
				{"violations", view.Number(int64(r.Violations))},
				{"tasks", fmt.Sprintf("%s, %s landed", view.Number(int64(r.Tasks)), view.Number(int64(r.Landed)))},
				{"deaths", fmt.Sprintf("%s, over %s lives", view.Number(int64(r.Deaths)), view.Number(int64(r.Lives)))},
				{"model calls", fmt.Sprintf("%s, %s made twice because their process died", view.Number(int64(r.Calls)), view.Number(int64(r.Repeated)))},
				{"events", view.Number(int64(r.Events))},
				{"virtual time", view.Duration(r.Virtual)},
				{"time", fmt.Sprintf("%s, %s seeds a second", view.Duration(took), view.Number(int64(float64(r.Seeds)/max(took.Seconds(), 1e-9))))},
			}
			text := view.Table(s, nil, rows)
			if r.Worst != nil {
				text += fmt.Sprintf("seed %d: %+v\n", r.Worst.Seed, *r.Worst)
			}
			return text
		})
		if err == nil && r.Violations > 0 {
			return frame.ExitError(frame.CodeFailed)
		}
		return err
	}, frame.CodeOK, frame.CodeFailed, frame.CodeUsage)
	c.Flags().Uint64Var(&seed, "seed", 1, "first `SEED`")
	c.Flags().IntVar(&n, "n", 1000, "how many")
	a.JSONFlag(c)
	return c
}

func scheduleCommand(a *frame.App) *cobra.Command {
	var seed uint64
	var n, parallel int
	c := a.Command("schedule [--seed S] [--n TASKS] [--parallel P] [--json]", "measure how well a run uses its workers", func(context.Context, []string) error {
		p := sim.Schedule(n, parallel, seed) //nolint:contextcheck // a simulation has a world of its own
		err := a.Answer(p, func(s view.Style) string {
			return view.Table(s, nil, [][]string{
				{"tasks", fmt.Sprintf("%d, %d at once, %d landed", p.Tasks, p.Parallel, p.Landed)},
				{"took", view.Duration(p.Took)},
				{"lower bound", fmt.Sprintf("%s: path %s, work %s", view.Duration(p.Bound), view.Duration(p.Path), view.Duration(p.Work))},
				{"efficiency", strconv.FormatFloat(p.Efficiency, 'f', 3, 64)},
			})
		})
		if err == nil && p.Problem != "" {
			a.Say("%s", p.Problem)
			return frame.ExitError(frame.CodeFailed)
		}
		return err
	}, frame.CodeOK, frame.CodeFailed, frame.CodeUsage)
	c.Flags().Uint64Var(&seed, "seed", 1, "`SEED` of the plan")
	c.Flags().IntVar(&n, "n", 1000, "how many `TASKS`")
	c.Flags().IntVarP(&parallel, "parallel", "j", 64, "how many at once")
	a.JSONFlag(c)
	return c
}
