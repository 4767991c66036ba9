package runscmd

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
	Run    nexus.RunID  `json:"run"`
	Events []view.Event `json:"events"`
	Last   int64        `json:"last"` // number of the last event read, for --since
	More   bool         `json:"more"` // there are later events
}

// logFlags are the flags of `logs`.
type logFlags struct {
	follow, lines bool
	since         int64
	limit         int // limit of events; 0: none
	task          string
}

func logsCommand(a *console.Console) *cobra.Command {
	var f logFlags
	c := a.Command("logs [RUN|TASK|ATTEMPT] [-f] [--since SEQ] [--limit N] [--task TASK] [--json|--jsonl]", "print what happened in a run, event by event", func(ctx context.Context, args []string) error {
		p, err := a.OpenRepository(ctx, app.ReadAccess)
		if err != nil {
			return err
		}
		defer p.Close()
		r, part, err := p.ResolveName(ctx, console.FirstArg(args))
		if err != nil {
			return err
		}
		f.task = cmp.Or(f.task, part)
		events := p.Journal.Events(ctx, r.ID, f.since)
		if f.follow {
			events = p.Journal.Follow(ctx, r.ID, f.since)
		}
		if a.JSON {
			return printEventList(a, r.ID, f, events)
		}
		err = printEventStream(a, f, events)
		if f.follow && ctx.Err() != nil {
			sayHowRunStands(context.WithoutCancel(ctx), a, p, r.ID)
			return console.ExitError(console.CodeInterrupted)
		}
		return err
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeInterrupted)
	c.Args = console.ArgCount(0, 1)
	fl := c.Flags()
	fl.BoolVarP(&f.follow, "follow", "f", false, "keep printing new events until the run ends")
	fl.Int64Var(&f.since, "since", 0, "print only events after the one with this `SEQ`")
	fl.IntVar(&f.limit, "limit", 0, "print at most `N` events")
	console.SetFlagMinimum(c, "limit", 1)
	fl.StringVar(&f.task, "task", "", "print only events of this `TASK`")
	fl.BoolVar(&f.lines, "jsonl", false, "print one JSON object per event")
	a.JSONFlag(c)
	c.MarkFlagsMutuallyExclusive("json", "jsonl")
	c.MarkFlagsMutuallyExclusive("json", "follow")
	return c
}

// sayHowRunStands prints the state of a run whose events are no longer printed.
func sayHowRunStands(ctx context.Context, a *console.Console, p *app.Repository, id nexus.RunID) {
	r, err := p.Run(ctx, string(id))
	s, replayed := p.Replay(ctx, id)
	switch {
	case err != nil || replayed != nil: // the state is unknown
	case s.Status.HasEnded():
		a.Say("run %s is %s; for details: nexus report %s", id, s.Status, id)
	case r.Holder == nil:
		a.Say("run %s is not in progress; nothing is lost, continue with: nexus resume %s", id, id)
	default:
		a.Say("run %s continues without you; nexus logs -f %s shows it again, nexus stop --run %s ends it", id, id, id)
	}
}

// selects reports whether an event matches the flags.
func (f logFlags) selects(e nexus.Event) bool {
	return f.task == "" || view.IsAbout(e.Fact, nexus.TaskID(f.task))
}

// printEventStream prints events as they arrive.
func printEventStream(a *console.Console, f logFlags, events iter.Seq2[nexus.Event, error]) error {
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
func printEventList(a *console.Console, run nexus.RunID, f logFlags, events iter.Seq2[nexus.Event, error]) error {
	all, found := logResult{Run: run, Events: []view.Event{}, Last: f.since}, []nexus.Event{}
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
		v, err := view.EventOf(e)
		if err != nil {
			return err
		}
		all.Events, found = append(all.Events, v), append(found, e)
	}
	return a.Answer(all, func(style view.Style) string {
		var b strings.Builder
		for _, e := range found {
			b.WriteString(view.DrawEvent(style, e) + "\n")
		}
		return b.String()
	})
}
