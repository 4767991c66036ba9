package runscmd

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/history"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
)

func historyCommand(a *console.Console) *cobra.Command {
	c := a.Command("history [--json]", "show figures over the runs of this repository", func(ctx context.Context, _ []string) error {
		p, err := a.Open(ctx, app.Reads)
		if err != nil {
			return err
		}
		defer p.Close()
		f := history.Of(nil)
		if p.Journal != nil {
			if f, err = app.History(ctx, p.Journal); err != nil {
				return err
			}
		}
		if f.Runs == 0 {
			a.Say("this repository has no runs yet; start one with nexus run GOAL, or try nexus demo")
		}
		return a.Answer(f, func(s view.Style) string { return drawHistory(s, f) })
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	a.JSONFlag(c)
	return c
}

// drawHistory draws figures over runs: groups of tasks, then tasks that stand out, then
// how right the estimates were.
func drawHistory(s view.Style, f history.Figures) string {
	if f.Runs == 0 {
		return ""
	}
	text := s.Bold(view.Count(f.Runs, "run")) + ": " + s.Join(
		fmt.Sprintf("%d of %s landed", f.Of.Landed, view.Count(f.Of.Tasks, "task")),
		fmt.Sprintf("%d failed", f.Of.Failed), fmt.Sprintf("%d parked", f.Of.Parked),
		fmt.Sprintf("%s, %s for each landed task", f.Money, f.Of.PerLanded),
	) + "\n"
	text += view.Table(s, []string{"by", "name", "tasks", "landed", "failed", "parked", "retried", "first pass", "time", "for each landed"}, groupRows(s, f))
	for _, list := range []struct {
		title string
		items []history.Item
	}{{"slowest", f.Slowest}, {"failed and parked", f.Failed}, {"retried", f.Retried}} {
		if len(list.items) > 0 {
			text += "\n" + s.Bold(list.title) + "\n" + itemTable(s, list.items)
		}
	}
	return text + drawAccuracy(s, f)
}

func groupRows(s view.Style, f history.Figures) [][]string {
	var rows [][]string
	for _, by := range []struct {
		name string
		of   []history.Group
	}{{"kind", f.ByKind}, {"stack", f.ByStack}, {"tier", f.ByTier}} {
		for i, g := range by.of {
			title := by.name
			if i > 0 && !s.Plain {
				title = ""
			}
			rows = append(rows, []string{
				title, view.Clean(g.Name), strconv.Itoa(g.Tasks), strconv.Itoa(g.Landed), strconv.Itoa(g.Failed), strconv.Itoa(g.Parked), strconv.Itoa(g.Retried),
				percent(g.FirstPass), took(g.Seconds), g.PerLanded.String(),
			})
		}
	}
	return rows
}

func itemTable(s view.Style, items []history.Item) string {
	var rows [][]string
	for _, i := range items {
		rows = append(rows, []string{
			string(i.Run), string(i.Task), view.Clean(i.Title), string(i.Status), strconv.Itoa(i.Attempts), strconv.Itoa(i.Rounds), took(i.Seconds), i.Money.String(), view.Clean(i.Why),
		})
	}
	return view.Table(s, []string{"run", "task", "title", "status", "attempts", "rounds", "time", "cost", "why"}, rows)
}

// drawAccuracy says how right the estimates were, of all and of each run.
func drawAccuracy(s view.Style, f history.Figures) string {
	text := "\n" + s.Bold("estimates") + "\n"
	if f.Estimates.Tasks == 0 {
		return text + "  no task has landed that was estimated\n"
	}
	var rows [][]string
	row := func(name string, x history.Accuracy) {
		money := []string{"", ""}
		if x.Paid > 0 {
			money = []string{percent(x.PaidInside), times(x.PaidRatio)}
		}
		rows = append(rows, slices.Concat([]string{name, strconv.Itoa(x.Tasks), strconv.Itoa(x.Learned), percent(x.Inside), times(x.Ratio)}, money))
	}
	for _, x := range f.Learned {
		row(string(x.Run), x)
	}
	row("all", f.Estimates)
	return text + view.Table(s, []string{"run", "tasks", "from history", "time in range", "actual/estimate", "cost in range", "actual/estimate"}, rows)
}

func percent(share float64) string { return fmt.Sprintf("%.0f %%", 100*share) }

func times(ratio float64) string { return fmt.Sprintf("%.2f", ratio) }

func took(seconds int64) string {
	if seconds == 0 {
		return ""
	}
	return (time.Duration(seconds) * time.Second).String()
}
