// Package logscmd implements the command "nexus logs".
package logscmd

import (
	"cmp"
	"context"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// logResult is the JSON output of logs.
type logResult struct {
	Run    nexus.RunID            `json:"run"`
	Events []view.EventStreamLine `json:"events"`
	Last   int64                  `json:"last"` // number of the last event read, for --since
	More   bool                   `json:"more"` // there are later events
}

// Options are the options of the command.
type Options struct {
	Console *console.Console
	Run     string // as a person names it; empty: the default run
	Name    string // run, task, attempt or session; empty: the run
	Task    string // only events of this task, which need not exist yet; empty: those of Name
	Follow  bool   // print new events until the run ends
	JSONL   bool   // one JSON object per event
	Since   int64  // only events after this one
	Limit   int    // of events; 0: none
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = printLog
	}
	const use = "logs [RUN|TASK|ATTEMPT|SESSION] [-f] [--since SEQ] [--limit N] [--run RUN] [--json|--jsonl]"
	command := c.Command(use, "print what happened in a run, event by event", func(ctx context.Context, args []string) error {
		o.Name = console.FirstArg(args)
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeInterrupted)
	command.Args = console.ArgCount(0, 1)
	f := command.Flags()
	f.BoolVarP(&o.Follow, "follow", "f", false, "keep printing new events until the run ends")
	f.Int64Var(&o.Since, "since", 0, "print only events after the one with this `SEQ`")
	f.IntVar(&o.Limit, "limit", 0, "print at most `N` events")
	console.SetFlagMinimum(command, "limit", 1)
	f.StringVar(&o.Task, "task", "", "print only events of this `TASK`")
	f.BoolVar(&o.JSONL, "jsonl", false, "print one JSON object per event")
	c.RunFlag(command, &o.Run)
	c.JSONFlag(command)
	command.MarkFlagsMutuallyExclusive("json", "jsonl")
	command.MarkFlagsMutuallyExclusive("json", "follow")
	return command
}

// printLog prints the events.
func printLog(ctx context.Context, o *Options) error {
	return o.Console.ReadSubject(ctx, o.Run, o.Name, func(p *app.Repository, s app.RunSubject) error {
		events := p.Journal.Events(ctx, s.ID, o.Since)
		if o.Follow {
			events = p.Journal.Follow(ctx, s.ID, o.Since)
		}
		f := eventFilter{task: cmp.Or(o.Task, s.Part()), limit: o.Limit, since: o.Since, lines: o.JSONL, follow: o.Follow}
		if o.Console.JSON {
			return printEventList(o.Console, s.ID, f, events)
		}
		err := printEventStream(o.Console, f, events)
		if o.Follow && ctx.Err() != nil {
			sayHowRunStands(context.WithoutCancel(ctx), o.Console, p, s.ID)
			return console.ExitError(console.CodeInterrupted)
		}
		return err
	})
}

// eventFilter selects events and their form.
type eventFilter struct {
	follow, lines bool
	since         int64
	limit         int // limit of events; 0: none
	task          string
}

// sayHowRunStands prints the state of a run whose events are no longer printed.
func sayHowRunStands(ctx context.Context, a *console.Console, p *app.Repository, id nexus.RunID) {
	r, err := p.FindRun(ctx, string(id))
	s, replayed := p.Replay(ctx, id)
	switch {
	case err != nil || replayed != nil: // the state is unknown
	case s.Status.HasEnded():
		a.Say("run %s is %s; for details: nexus status --report %s", id, s.Status, id)
	case r.Holder == nil:
		a.Say("run %s is not in progress; nothing is lost, continue with: nexus resume %s", id, id)
	default:
		a.Say("run %s continues without you; nexus logs -f %s shows it again, nexus stop %s ends it", id, id, id)
	}
}

// selects reports whether an event matches the flags.
func (f eventFilter) selects(e nexus.Event) bool {
	return f.task == "" || view.IsAboutTask(e.Fact, nexus.TaskID(f.task))
}

// printEventStream prints events as they arrive.
func printEventStream(a *console.Console, f eventFilter, events iter.Seq2[nexus.Event, error]) error {
	style, n := a.Style(a.Out), 0
	for e, err := range events {
		switch {
		case err != nil:
			return err
		case !f.selects(e):
		case f.lines:
			n, err = n+1, a.PrintEventJSON(e)
		default:
			n, err = n+1, a.Print(view.DrawEvent(style, e)+"\n")
		}
		if err != nil {
			return err
		}
		if _, over := e.Fact.(nexus.RunEnded); over && f.follow || f.limit > 0 && n == f.limit {
			return nil
		}
	}
	return nil
}

// printEventList prints events as one object.
func printEventList(a *console.Console, run nexus.RunID, f eventFilter, events iter.Seq2[nexus.Event, error]) error {
	all, found := logResult{Run: run, Events: []view.EventStreamLine{}, Last: f.since}, []nexus.Event{}
	for e, err := range events {
		if err != nil {
			return err
		}
		wanted := f.selects(e)
		if wanted && f.limit > 0 && len(found) == f.limit {
			all.More = true
			break
		}
		all.Last = e.Seq
		if !wanted {
			continue
		}
		v, err := view.EventStreamLineOf(e)
		if err != nil {
			return err
		}
		all.Events, found = append(all.Events, v), append(found, e)
	}
	return a.Answer(all, func(style view.OutputStyle) string {
		var b strings.Builder
		for _, e := range found {
			b.WriteString(view.DrawEvent(style, e) + "\n")
		}
		return b.String()
	})
}
