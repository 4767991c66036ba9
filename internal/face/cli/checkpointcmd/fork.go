package checkpointcmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/startcmd"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// forkResult is the JSON output of fork if the run does not start.
type forkResult struct {
	Run  nexus.RunID `json:"run"`  // the new run
	From nexus.Fork  `json:"from"` // the point at which it began
}

func forkCommand(a *console.Console) *cobra.Command {
	var at string
	var hold bool
	var o progress.RunCommandOptions
	const about = "start a second run from a point of a run"
	c := a.Command("fork [RUN] [--at EVENT|CHECKPOINT] [flags]", about, func(ctx context.Context, args []string) error {
		if !hold {
			if done, err := progress.RunInChildProcess(a); done {
				return err
			}
		}
		return a.ChangeRun(ctx, console.FirstArg(args), func(p *app.Repository, _ journal.RecordedRun, s *state.State) error {
			from, err := app.ParsePoint(s, at)
			if err != nil {
				return err
			}
			if from.Seq < 1 || from.Seq > s.Seq {
				return app.NotFoundError("event", at, fmt.Sprintf("The run is at event %d.", s.Seq))
			}
			id, err := a.ForkRun(ctx, p, s, from, a.UserName())
			if err != nil {
				return err
			}
			if hold {
				then, err := s.StateAt(from.Seq)
				if err != nil {
					return err
				}
				told := forkResult{Run: id, From: nexus.Fork{Run: s.Run, Seq: from.Seq, Checkpoint: from.Name(), Tip: then.Tip, By: a.UserName()}}
				return a.Answer(told, func(view.Style) string {
					return fmt.Sprintf("run %s starts at event %d of run %s\nStart it: nexus resume %s\n", id, from.Seq, s.Run, id)
				})
			}
			a.Say("run %s starts at event %d of run %s", id, from.Seq, s.Run)
			o.Run, o.Agree = id, startcmd.NewConsentDialog(a, p)
			return progress.RunAndShow(ctx, a, p, o)
		})
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePartial,
		console.CodeLimit, console.CodePerson, console.CodeHeld, console.CodeInterrupted)
	c.Args = console.ArgCount(0, 1)
	c.Flags().StringVar(&at, "at", "", "the `POINT`: the number of an event, or the name of a checkpoint; the current point if not given")
	c.Flags().BoolVar(&hold, "hold", false, "create the run, but do not start it")
	a.SettingFlags(c, "approval", "parallel", "budget", "max-time", "model", "sandbox", "status-file")
	progress.OrderFlags(a, c, &o)
	return c
}
