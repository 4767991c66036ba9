package runscmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/face/view/vitals"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

// told is what status prints with --json.
type told struct {
	view.Run
	Criteria []view.CriteriaCount   `json:"criteria,omitempty"` // of each task that has some
	Groups   []accept.Group         `json:"groups,omitempty"`   // of tasks, where the plan has some
	Tried    []accept.Tried         `json:"checks_tried,omitempty"`
	Earlier  []accept.EarlierResult `json:"earlier,omitempty"` // criteria of earlier runs that were tried before it began
	Health   *vitals.Vitals         `json:"health,omitempty"`  // where it was asked for
}

// before returns what was tried before a run began.
func before(ctx context.Context, p *app.Place, run nexus.RunID) ([]accept.EarlierResult, error) {
	var events []nexus.Event
	for e, err := range p.Journal.Events(ctx, run, 0) {
		if err != nil {
			return nil, err
		}
		if f, ok := e.Fact.(nexus.GateJudged); ok && f.Base {
			events = append(events, e)
		}
	}
	return accept.EarlierResults(events), nil
}

// planned returns the tasks of a run as they are planned now.
func planned(s *state.State) []nexus.Task {
	all := make([]nexus.Task, len(s.Tasks))
	for i, t := range s.Tasks {
		all[i] = t.Task
	}
	return all
}

func statusCommand(a *console.Console) *cobra.Command {
	var measured bool
	c := a.Command("status [RUN] [--health] [--json]", "show the status of a run", func(ctx context.Context, args []string) error {
		return a.Look(ctx, console.First(args), func(p *app.Place, r journal.Run, s *state.State) error {
			t, err := table(ctx, p, r.ID, s)
			if err != nil {
				return err
			}
			v := told{Run: a.Tell(r, s), Criteria: view.CriteriaByTask(t), Groups: t.Groups}
			if !s.Status.Ended() {
				past, err := app.Past(ctx, p.Journal, r.ID)
				if err != nil {
					return err
				}
				v.Expect(s, past, a.Now())
			}
			if v.Earlier, err = before(ctx, p, r.ID); err != nil {
				return err
			}
			v.Tried = accept.AllTried(planned(s))
			if measured {
				if v.Health, err = measure(ctx, p, r, s, a.Now()); err != nil {
					return err
				}
			}
			return a.Answer(v, func(s view.Style) string {
				text := view.Status(s, v.Run)
				if v.Health != nil {
					text += vitals.Draw(s, *v.Health)
				}
				return text + view.CriteriaLines(s, v.Criteria) + view.DrawGroups(s, v.Groups) +
					view.DrawTried(s, v.Tried) + view.DrawEarlier(s, v.Earlier)
			})
		})
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.Takes(0, 1)
	c.Flags().BoolVar(&measured, "health", false,
		"also show what the run uses of the machine, who was last heard of when, and how much of what fails")
	a.JSONFlag(c)
	return c
}
