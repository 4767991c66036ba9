package runscmd

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/causes"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

// diagnosis is the JSON output of diagnose.
type diagnosis struct {
	Run    nexus.RunID    `json:"run"`
	Task   nexus.TaskID   `json:"task,omitzero"` // the only examined task
	Status string         `json:"status"`        // of the task, or of the run
	Causes []causes.Cause `json:"causes"`

	Explanation *explanation `json:"explanation,omitempty"` // by a model; nil: none was asked

	events []nexus.Event // of the run
}

func diagnoseCommand(a *console.Console) *cobra.Command {
	var run string
	var patterns, explains bool
	c := a.Command("diagnose [RUN|TASK] [--run RUN] [--explain] [--patterns] [--json]", "explain why tasks did not land, and what to do", func(ctx context.Context, args []string) error {
		if patterns {
			all := causes.Patterns()
			return a.Answer(map[string]any{"patterns": all}, func(s view.Style) string { return drawPatterns(s, all) })
		}
		p, err := a.Open(ctx, app.ReadAccess)
		if err != nil {
			return err
		}
		defer p.Close()
		d, err := diagnose(ctx, p, run, console.First(args))
		if err != nil {
			return err
		}
		if explains {
			if d.Explanation, err = explained(ctx, a, p, d); err != nil {
				return err
			}
		}
		return a.Answer(d, func(s view.Style) string { return drawDiagnosis(s, d) + drawExplanation(s, d.Explanation) })
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeLimit)
	c.Args = console.Takes(0, 1)
	c.Flags().BoolVar(&patterns, "patterns", false, "list the patterns that it knows")
	c.Flags().BoolVar(&explains, "explain", false, "let a model add an explanation, marked as its words; that costs money")
	a.SettingFlags(c, "model", "budget")
	a.RunFlag(c, &run)
	a.JSONFlag(c)
	return c
}

// diagnose finds the causes of the failure of a run, or of one task of it. The name is that of a
// run, or of a task of the given run or the latest.
func diagnose(ctx context.Context, p *app.Repository, run, name string) (d diagnosis, err error) {
	var r journal.Run
	if run == "" {
		r, name, err = p.ResolveName(ctx, name)
	} else {
		r, err = p.Run(ctx, run)
	}
	if err != nil {
		return d, err
	}
	var events []nexus.Event
	s := state.New(r.ID).ReadPastFrom(p.Journal.Events(ctx, r.ID, 0))
	for e, err := range p.Journal.Events(ctx, r.ID, 0) {
		if err == nil {
			err = s.Apply(e)
		}
		if err != nil {
			return d, err
		}
		events = append(events, e)
	}
	if err := console.NoLoop(s); err != nil {
		return d, err
	}
	d = diagnosis{Run: r.ID, Status: string(s.Status), Causes: []causes.Cause{}, events: events}
	if name != "" {
		t := s.Task(nexus.TaskID(name))
		if at := s.Attempt(nexus.AttemptID(name)); t == nil && at != nil {
			t = s.Task(at.Task)
		}
		if t == nil {
			return d, app.NotFound("task or attempt", name, "nexus status lists the tasks.")
		}
		d.Task, d.Status = t.ID, string(s.StatusOf(t))
	}
	for _, c := range causes.Find(s, events) {
		if d.Task == "" || c.Task == d.Task || c.Task == "" && c.Blocks {
			d.Causes = append(d.Causes, c)
		}
	}
	return d, nil
}

// drawDiagnosis draws causes: first those that prevented landing.
func drawDiagnosis(s view.Style, d diagnosis) string {
	about := "run " + string(d.Run)
	if d.Task != "" {
		about = "task " + string(d.Task)
	}
	text := s.Bold(about) + " is " + d.Status + "\n"
	if len(d.Causes) == 0 {
		return text + "no known cause; nexus logs shows everything that happened, nexus report what is missing\n"
	}
	// Those that block come first.
	rest := slices.IndexFunc(d.Causes, func(c causes.Cause) bool { return !c.Blocks })
	if rest < 0 {
		rest = len(d.Causes)
	}
	for _, part := range []struct {
		title string
		all   []causes.Cause
	}{
		{"why tasks did not land", d.Causes[:rest]},
		{"costs in time or money", d.Causes[rest:]},
	} {
		if len(part.all) == 0 {
			continue
		}
		text += "\n" + s.Bold(part.title) + "\n"
		for _, c := range part.all {
			text += drawCause(s, c)
		}
	}
	return text
}

func drawCause(s view.Style, c causes.Cause) string {
	of := ""
	if c.Task != "" {
		of = string(c.Task) + ": "
	}
	return of + view.Clean(c.Symptom) + " " + s.Dim("("+c.Pattern+")") + "\n" +
		"  why       " + view.Clean(c.Why) + "\n" +
		"  do        " + view.Clean(c.Fix) + "\n" +
		"  evidence  " + s.Dim("events "+numbers(c.Events)) + "\n"
}

// mostEvents limits the events that are named per cause.
const mostEvents = 8

// numbers lists event numbers, up to mostEvents.
func numbers(seqs []int64) string {
	words := make([]string, 0, mostEvents+1)
	for i, n := range seqs {
		if i == mostEvents {
			words = append(words, "and "+view.Number(int64(len(seqs)-mostEvents))+" more")
			break
		}
		words = append(words, strconv.FormatInt(n, 10))
	}
	return strings.Join(words, ", ")
}

func drawPatterns(s view.Style, all []causes.Pattern) string {
	rows := make([][]string, len(all))
	for i, p := range all {
		rows[i] = []string{p.Name, p.About}
	}
	return view.Table(s, []string{"pattern", "what it recognizes"}, rows)
}
