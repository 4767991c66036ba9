package runscmd

import (
	"cmp"
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func logsCommand(a *console.Console) *cobra.Command {
	var follow, lines bool
	var since int64
	var task string
	c := a.Command("logs [RUN|TASK|ATTEMPT] [-f] [--since SEQ] [--task TASK] [--jsonl]", "print what happened in a run, event by event", func(ctx context.Context, args []string) error {
		p, err := a.Open(ctx, app.Reads)
		if err != nil {
			return err
		}
		defer p.Close()
		r, part, err := p.Named(ctx, console.First(args))
		if err != nil {
			return err
		}
		task = cmp.Or(task, part)
		events := p.Journal.Events(ctx, r.ID, since)
		if follow {
			events = p.Journal.Follow(ctx, r.ID, since)
		}
		style := a.Style(a.Out)
		for e, err := range events {
			switch {
			case err != nil:
				return err
			case task != "" && !view.Concerns(e.Fact, nexus.TaskID(task)):
			case lines:
				err = a.Line(e)
			default:
				err = a.Print(view.Line(style, e) + "\n")
			}
			if err != nil {
				return err
			}
			if _, over := e.Fact.(nexus.RunEnded); over && follow {
				return nil
			}
		}
		return nil
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeInterrupted)
	c.Args = console.Takes(0, 1)
	f := c.Flags()
	f.BoolVarP(&follow, "follow", "f", false, "keep printing new events until the run ends")
	f.Int64Var(&since, "since", 0, "print only events after the one with this `SEQ`")
	f.StringVar(&task, "task", "", "print only events of this `TASK`")
	f.BoolVar(&lines, "jsonl", false, "print one JSON object per event")
	return c
}
