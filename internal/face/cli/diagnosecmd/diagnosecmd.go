// Package diagnosecmd implements the command "nexus diagnose".
package diagnosecmd

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/failurecauses"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// diagnosisAnswer is the JSON output of diagnose.
type diagnosisAnswer struct {
	Run    nexus.RunID                `json:"run"`
	Task   nexus.TaskID               `json:"task,omitzero"` // the only examined task
	Status string                     `json:"status"`        // of the task, or of the run
	Causes []failurecauses.KnownCause `json:"causes"`

	Explanation *modelExplanation `json:"explanation,omitempty"` // by a model; nil: none was asked

	events []nexus.Event // of the run
}

// Options are the options of the command.
type Options struct {
	Console  *console.Console
	Run      string // as a person names it; empty: the default run
	Name     string // run, task or attempt; empty: the run
	Explain  bool   // a model adds an explanation
	Patterns bool   // list the known patterns instead
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = diagnose
	}
	const use = "diagnose [RUN|TASK|ATTEMPT] [--run RUN] [--explain] [--patterns] [--json]"
	command := c.Command(use, "explain why tasks did not land, and what to do", func(ctx context.Context, args []string) error {
		o.Name = console.FirstArg(args)
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeLimit)
	command.Args = console.ArgCount(0, 1)
	command.Flags().BoolVar(&o.Patterns, "patterns", false, "list the patterns that it knows")
	command.Flags().BoolVar(&o.Explain, "explain", false, "let a model add an explanation, marked as its words; that costs money")
	c.SettingFlags(command, "model", "budget")
	c.RunFlag(command, &o.Run)
	c.JSONFlag(command)
	return command
}

// diagnose prints the causes.
func diagnose(ctx context.Context, o *Options) error {
	a := o.Console
	if o.Patterns {
		all := failurecauses.CausePatterns()
		return a.Answer(map[string]any{"patterns": all}, func(s view.OutputStyle) string { return drawPatterns(s, all) })
	}
	p, err := a.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	d, err := diagnoseRun(ctx, a, p, o.Run, o.Name)
	if err != nil {
		return err
	}
	if o.Explain {
		if d.Explanation, err = explainDiagnosis(ctx, a, p, d); err != nil {
			return err
		}
	}
	return a.Answer(d, func(s view.OutputStyle) string { return drawDiagnosis(s, d) + drawExplanation(s, d.Explanation) })
}

// diagnoseRun finds the causes of the failure of a run, or of one task of it. The name is that of a
// run, or of a task of the given run or the latest.
func diagnoseRun(ctx context.Context, a *console.Console, p *app.Repository, run, name string) (d diagnosisAnswer, err error) {
	r, err := a.FindSubject(ctx, p, run, name)
	if err != nil {
		return d, err
	}
	var events []nexus.Event
	s := state.NewState(r.ID).ReadPastFrom(p.Journal.Events(ctx, r.ID, 0))
	for e, err := range p.Journal.Events(ctx, r.ID, 0) {
		if err == nil {
			err = s.Apply(e)
		}
		if err != nil {
			return d, err
		}
		events = append(events, e)
	}
	if err := console.RefuseLoop(s); err != nil {
		return d, err
	}
	d = diagnosisAnswer{Run: r.ID, Status: string(console.RunStatus(r.RecordedRun, s)), Causes: []failurecauses.KnownCause{}, events: events}
	if t := s.TaskByID(r.Task); t != nil {
		row, _ := projection.BuildRunView(s, console.RunContextOf(r.RecordedRun), s.Updated).TaskByID(t.ID)
		d.Task, d.Status = t.ID, string(row.Status)
	}
	for _, c := range failurecauses.FindCauses(s, events) {
		if d.Task == "" || c.Task == d.Task || c.Task == "" && c.Blocks {
			d.Causes = append(d.Causes, c)
		}
	}
	return d, nil
}

// drawDiagnosis draws causes: first those that prevented landing.
func drawDiagnosis(s view.OutputStyle, d diagnosisAnswer) string {
	about := "run " + string(d.Run)
	if d.Task != "" {
		about = "task " + string(d.Task)
	}
	text := s.Bold(about) + " is " + d.Status + "\n"
	if len(d.Causes) == 0 {
		return text + "no known cause; nexus logs shows everything that happened, nexus status --report what is missing\n"
	}
	// Those that block come first.
	rest := slices.IndexFunc(d.Causes, func(c failurecauses.KnownCause) bool { return !c.Blocks })
	if rest < 0 {
		rest = len(d.Causes)
	}
	for _, part := range []struct {
		title string
		all   []failurecauses.KnownCause
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

func drawCause(s view.OutputStyle, c failurecauses.KnownCause) string {
	of := ""
	if c.Task != "" {
		of = string(c.Task) + ": "
	}
	return of + view.EscapeForTerminal(c.Symptom) + " " + s.Dim("("+c.Pattern+")") + "\n" +
		"  why       " + view.EscapeForTerminal(c.Why) + "\n" +
		"  do        " + view.EscapeForTerminal(c.Fix) + "\n" +
		"  evidence  " + s.Dim("events "+eventNumbers(c.Events)) + "\n"
}

// mostEvents limits the events that are named per cause.
const mostEvents = 8

// eventNumbers lists event numbers, up to mostEvents.
func eventNumbers(seqs []int64) string {
	words := make([]string, 0, mostEvents+1)
	for i, n := range seqs {
		if i == mostEvents {
			words = append(words, "and "+view.FormatNumber(int64(len(seqs)-mostEvents))+" more")
			break
		}
		words = append(words, strconv.FormatInt(n, 10))
	}
	return strings.Join(words, ", ")
}

func drawPatterns(s view.OutputStyle, all []failurecauses.CausePattern) string {
	rows := make([][]string, len(all))
	for i, p := range all {
		rows[i] = []string{p.Name, p.About}
	}
	return view.DrawTable(s, []string{"pattern", "what it recognizes"}, rows)
}
