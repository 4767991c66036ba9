package runscmd

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/runhistory"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// showStats shows statistics over the runs.
func showStats(ctx context.Context, o *Options) error {
	a := o.Console
	begin, err := parsePeriodStart(o.Since, a.Now())
	if err != nil {
		return err
	}
	ways := o.By
	if len(ways) == 0 {
		ways = groupNames()
	}
	runs, err := runsOf(ctx, a, o.All)
	if err != nil {
		return err
	}
	f := runhistory.SummarizeRuns(slices.DeleteFunc(runs, func(r runhistory.RunRecord) bool { return r.Began.Before(begin) }))
	switch {
	case f.Runs > 0:
	case len(runs) > 0:
		a.Say("no run started since %s; leave out --since to see all", begin.Format(time.DateTime))
	case o.All:
		a.Say("nothing ran on this machine yet; start with nexus run GOAL in a repository, or try nexus demo")
	default:
		a.Say("this repository has no runs yet; start one with nexus run GOAL, or try nexus demo")
	}
	if o.CSV {
		text, err := groupsCSV(f, ways)
		if err != nil {
			return err
		}
		return a.Print(text)
	}
	return a.Answer(f, func(s view.OutputStyle) string { return drawHistory(s, f, ways, len(o.By) > 0) })
}

// runsOf returns the results of runs, of the repository or of all repositories.
func runsOf(ctx context.Context, a *console.Console, all bool) ([]runhistory.RunRecord, error) {
	if all {
		return a.AllRunHistories(ctx)
	}
	p, err := a.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	return a.RunHistory(ctx, p)
}

// groupNames returns the names of all groups of tasks.
func groupNames() []string {
	var known []string
	for _, d := range (runhistory.RunHistoryStatistics{}).TaskDimensions() {
		known = append(known, d.Name)
	}
	return known
}

func unknownGroupError(name string) error {
	return &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: "unknown --by value " + view.QuoteForTerminal(name),
		Hint: "Use " + strings.Join(groupNames(), ", ") + ".",
	}
}

// longest is the largest number of days for --since.
const longest = 200 * 366

// parsePeriodStart parses the start of a period: a duration before now or a day; zero for no text.
func parsePeriodStart(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.ParseInLocation(layout, text, now.Location()); err == nil {
			return t, nil
		}
	}
	for unit, days := range map[string]int{"d": 1, "w": 7} {
		if n, err := strconv.Atoi(strings.TrimSuffix(text, unit)); err == nil && strings.HasSuffix(text, unit) &&
			n > 0 && n <= longest/days {
			return now.AddDate(0, 0, -n*days), nil
		}
	}
	if d, err := time.ParseDuration(text); err == nil && d > 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: "--since " + view.QuoteForTerminal(text) + " is not a time",
		Hint: "Give how far to look back, such as 36h, 7d or 4w, or a day, such as 2026-05-31.",
	}
}

// drawHistory draws statistics over runs: groups of tasks, outliers, failures, and the accuracy
// of estimates. With only, it draws just the groups.
func drawHistory(s view.OutputStyle, f runhistory.RunHistoryStatistics, ways []string, only bool) string {
	if f.Runs == 0 {
		return ""
	}
	text := s.Bold(view.CountWithNoun(f.Runs, "run")) + ": " + s.JoinFigures(
		fmt.Sprintf("%d of %s landed", f.Of.Landed, view.CountWithNoun(f.Of.Tasks, "task")),
		fmt.Sprintf("%d failed", f.Of.Failed), fmt.Sprintf("%d parked", f.Of.Parked),
		spentText(f),
	) + "\n"
	head := []string{
		"by", "name", "tasks", "landed", "failed", "parked", "retried", "first pass", "attempts",
		"rounds", "escalated", "time", "for each landed",
	}
	text += view.DrawTable(s, head, groupRows(s, f, ways))
	if only {
		return text
	}
	for _, list := range []struct {
		title string
		items []runhistory.TaskListItem
	}{{"slowest", f.Slowest}, {"failed and parked", f.Failed}, {"retried", f.Retried}} {
		if len(list.items) > 0 {
			text += "\n" + s.Bold(list.title) + "\n" + itemTable(s, list.items)
		}
	}
	return text + drawFailures(s, f) + drawAccuracy(s, f)
}

// costPerLandedTask formats the cost per landed task; empty if none landed.
func costPerLandedTask(g runhistory.TaskGroupStatistics) string {
	if g.Landed == 0 {
		return ""
	}
	return g.PerLanded.String()
}

func spentText(f runhistory.RunHistoryStatistics) string {
	if each := costPerLandedTask(f.Of); each != "" {
		return fmt.Sprintf("%s, %s for each landed task", f.Money, each)
	}
	return f.Money.String()
}

func groupRows(s view.OutputStyle, f runhistory.RunHistoryStatistics, ways []string) [][]string {
	var rows [][]string
	for _, by := range f.TaskDimensions() {
		if !slices.Contains(ways, by.Name) {
			continue
		}
		for i, g := range by.Groups {
			title := by.Name
			if i > 0 && !s.Plain {
				title = ""
			}
			rows = append(rows, []string{
				title, view.EscapeForTerminal(g.Name), strconv.Itoa(g.Tasks), strconv.Itoa(g.Landed), strconv.Itoa(g.Failed),
				strconv.Itoa(g.Parked), strconv.Itoa(g.Retried),
				view.FormatPercent(g.FirstPass), strconv.Itoa(g.Attempts), strconv.Itoa(g.Rounds), strconv.Itoa(g.Raised),
				formatSeconds(g.Seconds), costPerLandedTask(g),
			})
		}
	}
	return rows
}

func itemTable(s view.OutputStyle, items []runhistory.TaskListItem) string {
	var rows [][]string
	for _, i := range items {
		run := string(i.Run)
		if i.Repo != "" {
			run = i.Repo + " " + run
		}
		rows = append(rows, []string{
			view.EscapeForTerminal(run), string(i.Task), view.EscapeForTerminal(i.Title), string(i.Status), strconv.Itoa(i.Attempts),
			strconv.Itoa(i.Rounds), formatSeconds(i.Seconds), i.Money.String(), view.EscapeForTerminal(i.Why),
		})
	}
	return view.DrawTable(s, []string{"run", "task", "title", "status", "attempts", "rounds", "time", "cost", "why"}, rows)
}

// drawFailures draws the causes of failed attempts, and how often each gate failed.
func drawFailures(s view.OutputStyle, f runhistory.RunHistoryStatistics) string {
	text := ""
	if len(f.Failures) > 0 {
		var rows [][]string
		for _, x := range f.Failures {
			rows = append(rows, []string{
				view.EscapeForTerminal(x.Signature), strconv.Itoa(x.Attempts), strconv.Itoa(x.Tasks),
				x.Money.String(), string(x.Run), view.EscapeForTerminal(x.About),
			})
		}
		text += "\n" + s.Bold("failures that attempts ended with") + "\n" + view.DrawTable(s, []string{
			"signature",
			"attempts", "tasks", "cost", "latest in", "what",
		}, rows)
	}
	if len(f.Gates) == 0 {
		return text
	}
	var rows [][]string
	for _, g := range f.Gates {
		rows = append(rows, []string{view.EscapeForTerminal(g.Name), strconv.Itoa(g.Judged), strconv.Itoa(g.Failed), fmt.Sprintf("%.1fs", g.Seconds)})
	}
	return text + "\n" + s.Bold("gates") + "\n" + view.DrawTable(s, []string{"gate", "judged", "red", "time"}, rows)
}

// drawAccuracy draws the accuracy of the estimates, in total and per run.
func drawAccuracy(s view.OutputStyle, f runhistory.RunHistoryStatistics) string {
	text := "\n" + s.Bold("estimates") + "\n"
	if f.Estimates.Tasks == 0 {
		return text + "  no task has landed that was estimated\n"
	}
	var rows [][]string
	row := func(name string, x runhistory.EstimateAccuracy) {
		money := []string{"", ""}
		if x.Paid > 0 {
			money = []string{view.FormatPercent(x.PaidInside), formatRatio(x.PaidRatio)}
		}
		rows = append(rows, slices.Concat([]string{
			name, strconv.Itoa(x.Tasks), strconv.Itoa(x.Learned),
			view.FormatPercent(x.Inside), formatRatio(x.Ratio),
		}, money))
	}
	for _, x := range f.Learned[max(0, len(f.Learned)-mostRuns):] {
		row(string(x.Run), x)
	}
	row("all", f.Estimates)
	return text + view.DrawTable(s, []string{
		"run", "tasks", "from history", "time in range", "actual/estimate",
		"cost in range", "actual/estimate",
	}, rows)
}

// mostRuns limits the runs that are drawn one by one, the latest first.
const mostRuns = 20

func formatRatio(ratio float64) string { return fmt.Sprintf("%.2f", ratio) }

func formatSeconds(seconds int64) string {
	if seconds == 0 {
		return ""
	}
	return view.FormatSeconds(float64(seconds))
}
