package runscmd

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/startcmd"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

func attachCommand(a *console.Console) *cobra.Command {
	var o progress.RunCommandOptions
	const use, short = "attach [RUN] [--json|--jsonl]", "show a run that is in progress in another process, and answer its questions"
	c := a.Command(use, short, func(ctx context.Context, args []string) error {
		p, err := a.OpenRepository(ctx, app.ChangeAccess)
		if err != nil {
			return err
		}
		defer p.Close()
		r, err := resolveRunInProgress(ctx, p, console.FirstArg(args))
		if err != nil {
			return err
		}
		if r.Holder != nil {
			o.Agree = startcmd.NewConsentDialog(a, p)
			return progress.AttachToRun(ctx, a, p, r, o)
		}
		s, err := p.Replay(ctx, r.ID)
		if err != nil {
			return err
		}
		if !s.Status.HasEnded() {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("run %s is not in progress: there is nothing to attach to", r.ID),
				Hint: fmt.Sprintf("Continue it with nexus resume %s, or nexus resume %s --detach.", r.ID, r.ID),
			}
		}
		return progress.ReportUnconducted(ctx, a, p, r, s, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePartial, console.CodeLimit, console.CodePerson,
		console.CodeInterrupted)
	c.Args = console.ArgCount(0, 1)
	c.Flags().BoolVar(&o.JSONL, "jsonl", false, "print every event as a line of JSON instead of a report")
	a.JSONFlag(c)
	c.MarkFlagsMutuallyExclusive("json", "jsonl")
	return c
}

// resolveRunInProgress returns the named run; without a name the latest that has a conductor, or else the
// latest.
func resolveRunInProgress(ctx context.Context, p *app.Repository, name string) (journal.RecordedRun, error) {
	if name == "" {
		all, err := p.Runs(ctx)
		if err != nil {
			return journal.RecordedRun{}, err
		}
		for _, r := range slices.Backward(all) {
			if r.Holder != nil {
				return r, nil
			}
		}
	}
	return p.Run(ctx, name)
}
