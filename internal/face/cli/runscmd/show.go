package runscmd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/common/transcript"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/detail"
)

func showCommand(a *console.Console) *cobra.Command {
	var run string // empty: the newest
	var raw bool
	c := a.Command("show [RUN|TASK|ATTEMPT|SESSION] [--run RUN] [--json|--raw]", "print the details of a run, a task, an attempt or a session", func(ctx context.Context, args []string) error {
		if len(args) == 0 {
			return showRun(ctx, a, run)
		}
		name := args[0]
		if strings.Contains(name, "/") {
			return showSession(ctx, a, run, nexus.SessionID(name), raw)
		}
		if raw {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "--raw needs a session",
				Hint: "Name a session, such as T1.1/coder.1; nexus show TASK lists them.",
			}
		}
		err := a.ReadRun(ctx, run, func(p *app.Repository, r journal.RecordedRun, s *state.State) error {
			t := s.TaskByID(nexus.TaskID(name))
			only := nexus.AttemptID("")
			if at := s.AttemptByID(nexus.AttemptID(name)); t == nil && at != nil {
				t, only = s.TaskByID(at.Task), at.ID
			}
			if t == nil {
				return app.NotFoundError("run, task or attempt", name, "nexus status and nexus runs list them.")
			}
			v := detail.DetailOf(s, a.RunView(r, s), t, only)
			v.Report = escalationReport(p, t.Report)
			return a.Answer(v, func(s view.Style) string { return detail.DrawTask(s, v) })
		})
		if run != "" || !errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
			return err
		}
		other := showRun(ctx, a, name)
		if errors.Is(other, &nexus.Error{Code: nexus.CodeNotFound}) {
			return err
		}
		return other
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.ArgCount(0, 1)
	a.RunFlag(c, &run)
	c.Flags().BoolVar(&raw, "raw", false, "for a session, print its requests as they were sent, one JSON object per line")
	a.JSONFlag(c)
	c.MarkFlagsMutuallyExclusive("json", "raw")
	return c
}

// showSession prints a session's messages, or its raw requests.
func showSession(ctx context.Context, a *console.Console, run string, id nexus.SessionID, raw bool) error {
	return a.ReadRun(ctx, run, func(p *app.Repository, r journal.RecordedRun, _ *state.State) error {
		store, err := p.OpenBlobStore()
		if err != nil {
			return err
		}
		t, ok, err := transcript.ConversationOf(id, p.Journal.Events(ctx, r.ID, 0), store.Get)
		if err != nil {
			return err
		}
		if !ok {
			return app.NotFoundError("session", string(id), "Use a name such as T1.1/coder.1. nexus show TASK lists the sessions of a task.")
		}
		if !raw {
			return a.Answer(t, t.Draw)
		}
		for _, request := range t.Requests {
			line, err := json.Marshal(request)
			if err != nil {
				return fmt.Errorf("encode what %s sent: %w", id, err)
			}
			if err := a.Print(string(line) + "\n"); err != nil {
				return err
			}
		}
		return nil
	})
}

// showRun prints the report of a run, the newest if none is named.
func showRun(ctx context.Context, a *console.Console, run string) error {
	return a.ReadRun(ctx, run, func(p *app.Repository, r journal.RecordedRun, s *state.State) error {
		v := a.RunView(r, s)
		if err := console.AddCauses(ctx, p, s, &v); err != nil {
			return err
		}
		return a.Answer(v, func(s view.Style) string { return view.DrawReport(s, v, true) })
	})
}

// escalationReport returns the text of a task's escalation report; empty if there is none.
func escalationReport(p *app.Repository, hash string) string {
	if hash == "" {
		return ""
	}
	store, err := p.OpenBlobStore()
	if err != nil {
		return ""
	}
	text, _ := store.Get(hash)
	return string(text)
}
