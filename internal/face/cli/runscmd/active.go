package runscmd

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// activeRuns is the JSON output of nexus runs --active.
type activeRuns struct {
	NeedsYou int                     `json:"needs_you"` // questions and tasks that wait for a person
	Runs     []view.UnfinishedRunRow `json:"runs"`
}

// listActive lists the runs that are not over, those that need the person first.
func listActive(ctx context.Context, o *Options) error {
	a := o.Console
	all, err := unfinishedRuns(ctx, a, o.All)
	if err != nil && len(all) == 0 {
		return err
	}
	a.ReportError(err) // in one repository: the others are available
	told := activeRuns{Runs: []view.UnfinishedRunRow{}}
	for _, u := range all {
		g := view.UnfinishedRunRow{Repository: u.Repository, RunView: a.RunView(u.Run, u.State)}
		told.NeedsYou += g.Waiting
		told.Runs = append(told.Runs, g)
	}
	view.SortByUrgency(told.Runs)
	if len(all) == 0 {
		a.Say("nothing is running, and nothing waits for you; start a run with nexus run GOAL")
	}
	return a.Answer(told, func(s view.OutputStyle) string { return view.DrawUnfinishedRuns(s, told.Runs, o.All) })
}

func unfinishedRuns(ctx context.Context, a *console.Console, everywhere bool) ([]app.UnfinishedRun, error) {
	if everywhere {
		return a.UnfinishedRunsOfAllRepositories(ctx)
	}
	p, err := a.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	return p.UnfinishedRuns(ctx)
}
