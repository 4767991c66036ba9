package historycmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

func runsCommand(a *console.Console) *cobra.Command {
	c := a.Command("runs [--json]", "list the runs of this repository, the latest last", func(ctx context.Context, _ []string) error {
		p, err := a.OpenRepository(ctx, app.ReadAccess)
		if err != nil {
			return err
		}
		defer p.Close()
		all, err := p.Runs(ctx)
		if err != nil {
			return err
		}
		told := []view.Run{}
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
		return a.Answer(map[string][]view.Run{"runs": told}, func(s view.Style) string { return view.DrawRuns(s, told) })
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	a.JSONFlag(c)
	return c
}
