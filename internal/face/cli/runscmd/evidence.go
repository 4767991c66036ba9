package runscmd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

func evidenceCommand(a *console.Console) *cobra.Command {
	commit := ""
	c := a.Command("evidence [RUN] [--commit REV] [--json]", "show which criteria the landed work meets, and the evidence", func(ctx context.Context, args []string) error {
		if commit != "" {
			if len(args) > 0 {
				return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "--commit and RUN cannot be combined", Hint: "Leave out the run."}
			}
			return showCommitNote(ctx, a, commit)
		}
		return a.ReadRun(ctx, console.FirstArg(args), func(p *app.Repository, r journal.RecordedRun, s *state.State) error {
			t, err := criteriaTable(ctx, p, r.ID, s)
			if err != nil {
				return err
			}
			if err := a.Answer(t, func(s view.Style) string { return view.DrawCriteria(s, t) }); err != nil {
				return err
			}
			switch unmet, unknown := t.CountOpen(); {
			case unmet > 0:
				return console.ExitError(console.CodeFailed)
			case unknown > 0:
				return console.ExitError(console.CodePartial)
			}
			return nil
		})
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePartial)
	c.Args = console.ArgCount(0, 1)
	c.Flags().StringVar(&commit, "commit", "", "show what the git note at `REV` records about its tree: gates, commands, counts and review")
	a.JSONFlag(c)
	return c
}

// criteriaTable returns the known results for the criteria of a run.
func criteriaTable(ctx context.Context, p *app.Repository, run nexus.RunID, s *state.State) (accept.CriteriaTable, error) {
	var events []nexus.Event
	for e, err := range p.Journal.Events(ctx, run, 0) {
		if err != nil {
			return accept.CriteriaTable{}, err
		}
		if _, ok := e.Fact.(nexus.RequestMade); ok {
			events = append(events, e)
		}
	}
	return accept.TableOf(s, accept.WaiversFrom(events)), nil
}

// waiveCriterion records in the journal that a person waives a criterion.
func waiveCriterion(ctx context.Context, a *console.Console, run, id, why string) error {
	p, err := a.OpenRepository(ctx, app.ChangeAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	r, err := p.Run(ctx, run)
	if err != nil {
		return err
	}
	s, err := p.Replay(ctx, r.ID)
	if err != nil {
		return err
	}
	if _, ok := accept.FindCriterion(s, id); !ok {
		return app.NotFoundError("criterion", id, "nexus evidence lists them.")
	}
	if strings.TrimSpace(why) == "" {
		return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "waiving a criterion requires a reason", Hint: "Give one with --why."}
	}
	e, err := p.Journal.Ask(ctx, r.ID, nexus.Request{Verb: nexus.VerbApprove, ID: id, Text: why, By: a.UserName()})
	if err != nil {
		return err
	}
	return a.Answer(requestResult{Run: r.ID, Seq: e.Seq, Held: r.Holder != nil}, func(view.Style) string { return "waived: " + view.Clean(id) + "\n" })
}
