package runscmd

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// listRuns lists the runs of the repository.
func listRuns(ctx context.Context, a *console.Console) error {
	p, err := a.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	all, err := p.Runs(ctx)
	if err != nil {
		return err
	}
	told := []view.RunView{}
	for _, r := range all {
		s, err := p.Replay(ctx, r.ID)
		if err != nil {
			return err
		}
		told = append(told, a.RunView(r, s))
	}
	if len(told) == 0 {
		a.Say("this repository has no runs yet; start one with nexus run GOAL, or try nexus demo")
	}
	return a.Answer(map[string][]view.RunView{"runs": told}, func(s view.OutputStyle) string { return view.DrawRunOverview(s, told) })
}
