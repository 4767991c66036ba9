package runscmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/checkcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/startcmd"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func resumeCommand(a *console.Console) *cobra.Command {
	var o progress.RunCommandOptions
	c := a.Command("resume [RUN] [flags]", "continue a run that is paused, interrupted or ended early", func(ctx context.Context, args []string) error {
		if away, err := o.BackgroundStarter(a, false); err != nil {
			return err
		} else if away != nil {
			return away(ctx, a, o)
		}
		if done, err := progress.RunInChildProcess(a); done {
			return err
		}
		p, err := a.OpenRepository(ctx, app.ChangeAccess)
		if err != nil {
			return err
		}
		defer p.Close()
		r, err := p.Run(ctx, console.FirstArg(args))
		if err != nil {
			return err
		}
		o.Run, o.Agree, o.Yours = r.ID, startcmd.NewConsentDialog(a, p), checkcmd.InPlace(a, p.Repo)
		err = progress.RunAndShow(ctx, a, p, o)
		if !errors.Is(err, &nexus.Error{Code: nexus.CodeRunHeld}) {
			return err
		}
		s, replayed := p.Replay(ctx, r.ID)
		if replayed != nil || s.Status != nexus.StatusPaused {
			progress.SayPaused(a, s)
			return err
		}
		return makeRequest(ctx, a, p, r, nexus.Request{Verb: nexus.VerbResume})
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePartial, console.CodeLimit, console.CodePerson, console.CodeHeld, console.CodeInterrupted)
	c.Args = console.ArgCount(0, 1)
	a.SettingFlags(c, "approval", "step", "parallel", "budget", "max-time", "model", "sandbox", "status-file")
	progress.OrderFlags(a, c, &o)
	progress.DetachFlag(c, &o)
	progress.WatchFlag(c, &o)
	return c
}
