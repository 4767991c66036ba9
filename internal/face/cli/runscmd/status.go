package runscmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// statusResult is the JSON output of status.
type statusResult struct {
	view.Run
	Criteria []view.CriteriaCount   `json:"criteria,omitempty"` // of each task that has criteria
	Groups   []accept.FeatureGroup  `json:"groups,omitempty"`   // groups of tasks, if the plan has some
	Tried    []accept.TriedCheck    `json:"checks_tried,omitempty"`
	Earlier  []accept.EarlierResult `json:"earlier,omitempty"` // earlier runs' criteria, checked before it began
	Health   *runVitals             `json:"health,omitempty"`  // if requested
}

// earlierResults returns the checks that were done before a run began.
func earlierResults(ctx context.Context, p *app.Repository, run nexus.RunID) ([]accept.EarlierResult, error) {
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

// plannedTasks returns the tasks of a run's current plan.
func plannedTasks(s *state.State) []nexus.Task {
	all := make([]nexus.Task, len(s.Tasks))
	for i, t := range s.Tasks {
		all[i] = t.Task
	}
	return all
}

func statusCommand(a *console.Console) *cobra.Command {
	var measured bool
	c := a.Command("status [RUN] [--health] [--json]", "show the status of a run", func(ctx context.Context, args []string) error {
		if shown, err := statusOfLoop(ctx, a, console.FirstArg(args)); shown || err != nil {
			return err
		}
		return a.ReadRun(ctx, console.FirstArg(args), func(p *app.Repository, r journal.RecordedRun, s *state.State) error {
			v, err := readStatus(ctx, a, p, r, s, measured)
			if err != nil {
				return err
			}
			return a.Answer(v, func(s view.Style) string {
				text := view.DrawStatus(s, v.Run)
				if v.Health != nil {
					text += drawVitals(s, *v.Health)
				}
				return text + view.CriteriaLines(s, v.Criteria) + view.DrawGroups(s, v.Groups) +
					view.DrawTriedChecks(s, v.Tried) + view.DrawEarlierResults(s, v.Earlier)
			})
		})
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.ArgCount(0, 1)
	c.Flags().BoolVar(&measured, "health", false,
		"also show what the run uses of the machine, when each attempt was last active, and failure rates")
	a.JSONFlag(c)
	return c
}

// readStatus returns the status of a run, with measurements if requested.
func readStatus(ctx context.Context, a *console.Console, p *app.Repository, r journal.RecordedRun, s *state.State, measured bool) (statusResult, error) {
	t, err := criteriaTable(ctx, p, r.ID, s)
	if err != nil {
		return statusResult{}, err
	}
	about := console.RunContextOf(r)
	if !s.Status.HasEnded() {
		if about.Past, err = app.RecentStats(ctx, p.Journal, r.ID); err != nil {
			return statusResult{}, err
		}
	}
	v := statusResult{
		Run: projection.BuildRun(s, about, a.Now()), Criteria: view.CriteriaByTask(t), Groups: t.Groups, Tried: accept.TriedChecks(plannedTasks(s)),
	}
	if err := console.AddCauses(ctx, p, s, &v.Run); err != nil {
		return v, err
	}
	if v.Earlier, err = earlierResults(ctx, p, r.ID); err != nil || !measured {
		return v, err
	}
	v.Health, err = measureRun(ctx, p, r, s, a.Now())
	return v, err
}

// statusOfLoop shows a loop: the named one or, without a name, the active one.
func statusOfLoop(ctx context.Context, a *console.Console, name string) (shown bool, err error) {
	p, err := a.OpenRepository(ctx, app.ReadAccess)
	if err != nil || p.Journal == nil {
		return false, nil // the search for a run reports it
	}
	defer p.Close()
	r, err := loopOf(ctx, p, name)
	if err != nil || r == "" {
		return false, nil // the same
	}
	return true, a.ShowLoop(ctx, p, r)
}

// loopOf returns the loop with that name or, without a name, the active one; empty if it is not a
// loop.
func loopOf(ctx context.Context, p *app.Repository, name string) (nexus.RunID, error) {
	if name == "" {
		r, err := p.ActiveLoop(ctx)
		if err != nil || r == nil {
			return "", err
		}
		return r.ID, nil
	}
	r, err := p.Run(ctx, name)
	if err != nil {
		return "", err
	}
	_, last, err := p.LoadLoop(ctx, r.ID)
	if err != nil || last == nil || last.ID != r.ID {
		return "", err
	}
	return r.ID, nil
}
