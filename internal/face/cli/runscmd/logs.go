package runscmd

import (
	"cmp"
	"context"
	"iter"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// logged is the JSON output of logs.
type logged struct {
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
		p, err := a.Open(ctx, app.ReadAccess)
		if err != nil {
			return err
		}
		defer p.Close()
		r, part, err := p.ResolveName(ctx, console.First(args))
		if err != nil {
			return err
		}
		f.task = cmp.Or(f.task, part)
		events := p.Journal.Events(ctx, r.ID, f.since)
		if f.follow {
			events = p.Journal.Follow(ctx, r.ID, f.since)
		}
		if a.JSON {
			return collect(a, r.ID, f, events)
		}
		err = stream(a, f, events)
		if f.follow && ctx.Err() != nil {
			unfollowed(context.WithoutCancel(ctx), a, p, r.ID)
			return console.ExitError(console.CodeInterrupted)
		}
		return err
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeInterrupted)
	c.Args = console.Takes(0, 1)
	fl := c.Flags()
	fl.BoolVarP(&f.follow, "follow", "f", false, "keep printing new events until the run ends")
	fl.Int64Var(&f.since, "since", 0, "print only events after the one with this `SEQ`")
	fl.IntVar(&f.limit, "limit", 0, "print at most `N` events")
	console.Least(c, "limit", 1)
	fl.StringVar(&f.task, "task", "", "print only events of this `TASK`")
	fl.BoolVar(&f.lines, "jsonl", false, "print one JSON object per event")
	a.JSONFlag(c)
	c.MarkFlagsMutuallyExclusive("json", "jsonl")
	c.MarkFlagsMutuallyExclusive("json", "follow")
	return c
}

// unfollowed prints the state of a run whose events are no longer printed.
func unfollowed(ctx context.Context, a *console.Console, p *app.Repository, id nexus.RunID) {
	r, err := p.Run(ctx, string(id))
	s, replayed := p.Replay(ctx, id)
	switch {
	case err != nil || replayed != nil: // the state is unknown
	case s.Status.Ended():
		a.Say("run %s is %s; for details: nexus report %s", id, s.Status, id)
	case r.Holder == nil:
		a.Say("run %s is not in progress; nothing is lost, continue with: nexus resume %s", id, id)
	default:
		a.Say("run %s continues without you; nexus logs -f %s shows it again, nexus stop --run %s ends it", id, id, id)
	}
}

// wanted reports whether an event matches the flags.
func (f logFlags) wanted(e nexus.Event) bool {
	return f.task == "" || view.IsAbout(e.Fact, nexus.TaskID(f.task))
}

// stream prints events as they arrive.
func stream(a *console.Console, f logFlags, events iter.Seq2[nexus.Event, error]) error {
	style, n := a.Style(a.Out), 0
	for e, err := range events {
		switch {
		case err != nil:
			return err
		case !f.wanted(e):
		case f.lines:
			n, err = n+1, a.Line(e)
		default:
			n, err = n+1, a.Print(view.Line(style, e)+"\n")
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

// collect prints events as one object.
func collect(a *console.Console, run nexus.RunID, f logFlags, events iter.Seq2[nexus.Event, error]) error {
	all, found := logged{Run: run, Events: []view.Event{}, Last: f.since}, []nexus.Event{}
	for e, err := range events {
		if err != nil {
			return err
		}
		wanted := f.wanted(e)
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
			b.WriteString(view.Line(style, e) + "\n")
		}
		return b.String()
	})
}
