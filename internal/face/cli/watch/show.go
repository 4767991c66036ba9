package watch

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/face/view/detail"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

func showCommand(a *frame.App) *cobra.Command {
	var run string // the newest if not given
	c := a.Command("show [RUN|TASK|ATTEMPT] [--run RUN] [--json]", "print all there is to know about a run, a task or an attempt", func(ctx context.Context, args []string) error {
		if len(args) == 0 {
			return showRun(ctx, a, run)
		}
		name := args[0]
		err := a.Look(ctx, run, func(p *frame.Place, _ journal.Run, s *state.State) error {
			t := s.Task(nexus.TaskID(name))
			only := nexus.AttemptID("")
			if at := s.Attempt(nexus.AttemptID(name)); t == nil && at != nil {
				t, only = s.Task(at.Task), at.ID
			}
			if t == nil {
				return frame.NotFound("run, task or attempt", name, "nexus status and nexus runs list them.")
			}
			v := detail.Of(s, t, only, a.Now())
			v.Report = report(p, t.Report)
			return a.Answer(v, func(s view.Style) string { return detail.Draw(s, v) })
		})
		if run != "" || !errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
			return err
		}
		other := showRun(ctx, a, name)
		if errors.Is(other, &nexus.Error{Code: nexus.CodeNotFound}) {
			return err
		}
		return other
	}, frame.CodeOK, frame.CodeFailed, frame.CodeUsage)
	c.Args = frame.Takes(0, 1)
	a.RunFlag(c, &run)
	a.JSONFlag(c)
	return c
}

// showRun prints the report of a run, the newest if none is named.
func showRun(ctx context.Context, a *frame.App, run string) error {
	return a.Look(ctx, run, func(_ *frame.Place, r journal.Run, s *state.State) error {
		v := a.Tell(r, s)
		return a.Answer(v, func(s view.Style) string { return view.Report(s, v, true) })
	})
}

// report returns the text of a task's escalation report, where there is one.
func report(p *frame.Place, hash string) string {
	if hash == "" {
		return ""
	}
	store, err := p.Blobs()
	if err != nil {
		return ""
	}
	text, _ := store.Get(hash)
	return string(text)
}
