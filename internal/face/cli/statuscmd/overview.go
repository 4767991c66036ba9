package statuscmd

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// runOverview is the JSON output of status.
type runOverview struct {
	view.RunView
	Criteria []view.CriteriaCount           `json:"criteria,omitempty"` // of each task that has criteria
	Groups   []accept.FeatureProgress       `json:"groups,omitempty"`   // groups of tasks, if the plan has some
	Tried    []accept.CheckTrialResult      `json:"checks_tried,omitempty"`
	Earlier  []accept.EarlierRunCheckResult `json:"earlier,omitempty"` // earlier runs' criteria, checked before it began
	Health   *runVitals                     `json:"health,omitempty"`  // if requested
}

// showOverview shows the status of a run or a loop.
func showOverview(ctx context.Context, o *Options, p *app.Repository, s app.RunSubject) error {
	if loop, err := p.LoopNamed(ctx, string(s.ID)); err != nil {
		return err
	} else if loop != "" && s.Named {
		return o.Console.ShowLoop(ctx, p, loop)
	}
	v, err := readOverview(ctx, o.Console, p, s, o.Form == Health)
	if err != nil {
		return err
	}
	return o.Console.Answer(v, func(s view.OutputStyle) string {
		text := view.DrawStatus(s, v.RunView)
		if v.Health != nil {
			text += drawVitals(s, *v.Health)
		}
		return text + view.CriteriaLines(s, v.Criteria) + view.DrawFeatureProgress(s, v.Groups) +
			view.DrawTriedChecks(s, v.Tried) + view.DrawEarlierResults(s, v.Earlier)
	})
}

// readOverview returns the status of a run, with measurements if requested.
func readOverview(ctx context.Context, a *console.Console, p *app.Repository, of app.RunSubject, measured bool) (runOverview, error) {
	s := of.State
	t, err := p.CriteriaTable(ctx, s)
	if err != nil {
		return runOverview{}, err
	}
	about := console.RunContextOf(of.RecordedRun)
	if !s.Status.HasEnded() {
		if about.Past, err = app.RecentRunStatistics(ctx, p.Journal, of.ID); err != nil {
			return runOverview{}, err
		}
	}
	v := runOverview{
		RunView: projection.BuildRunView(s, about, a.Now()), Criteria: view.CriteriaByTask(t), Groups: t.Groups, Tried: accept.TriedChecks(plannedTasks(of)),
	}
	if err := console.AddCauses(ctx, p, s, &v.RunView); err != nil {
		return v, err
	}
	if v.Earlier, err = p.EarlierResults(ctx, of.ID); err != nil || !measured {
		return v, err
	}
	v.Health, err = measureRun(ctx, p, of.RecordedRun, s, a.Now())
	return v, err
}
