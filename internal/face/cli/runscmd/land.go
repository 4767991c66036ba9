package runscmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

func landCommand(a *console.Console) *cobra.Command {
	target := ""
	c := a.Command("land [RUN] [--target BRANCH] [--json]", "move your branch to the result of a run, merging if needed", func(ctx context.Context, args []string) error {
		return withRun(ctx, a, console.FirstArg(args), func(p *app.Repository, r journal.RecordedRun) error { return landRun(ctx, a, p, r, target) })
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePartial, console.CodePerson, console.CodeHeld, console.CodeInterrupted)
	c.Args = console.ArgCount(0, 1)
	c.Flags().StringVar(&target, "target", "", "`BRANCH` to move; the default is the one that was checked out when the run started")
	a.JSONFlag(c)
	return c
}

// landRun requests that the landed changes of a run move to a branch, and does that itself if the
// run is not in progress.
func landRun(ctx context.Context, a *console.Console, p *app.Repository, r journal.RecordedRun, target string) error {
	s, err := p.Replay(ctx, r.ID)
	if err != nil {
		return err
	}
	settings, _, err := a.LoadSettings()
	if err != nil {
		return err
	}
	target, err = p.ResolveTarget(ctx, settings.Protected, cmp.Or(target, s.Goal.Target))
	if err != nil {
		return err
	}
	if why, hint := notLandableReason(s, r); why != "" {
		return &nexus.Error{Code: nexus.CodeInvalidInput, Message: why, Hint: hint}
	}
	wish := nexus.Request{Verb: nexus.VerbLand, ID: target, By: a.UserName()}
	if r.Holder != nil || !app.CanDeliver(s) {
		return makeRequest(ctx, a, p, r, wish)
	}
	if _, err := p.Journal.Ask(ctx, r.ID, wish); err != nil {
		return err
	}
	v, err := progress.DeliverRun(ctx, a, p, r.ID)
	if errors.Is(err, context.Canceled) || ctx.Err() != nil {
		a.Say("interrupted; nothing is lost, continue with: nexus land %s", r.ID)
		return console.ExitError(console.CodeInterrupted)
	}
	if err != nil {
		return err
	}
	if v.Moved == "" {
		return &nexus.Error{
			Code: nexus.CodeTargetMoved, Message: cmp.Or(v.Stayed, target+" was not moved"),
			Hint: keptWhereText(v.Branch),
		}
	}
	return a.Answer(v, func(view.Style) string { return v.DeliveryText() + "\n" })
}

// keptWhereText describes where the landed changes are stored.
func keptWhereText(branch string) string {
	if branch == "" {
		return "The landed work is kept in the state directory, but not on a branch yet: nexus land tries again."
	}
	return "The landed work is on the branch " + branch + "."
}

// notLandableReason returns why a run has no changes that could land, and the next step.
func notLandableReason(s *state.State, r journal.RecordedRun) (why, hint string) {
	switch {
	case len(s.Landings) > 0 || r.Holder != nil:
		return "", ""
	case s.Status.HasEnded():
		return fmt.Sprintf("run %s landed nothing", s.Run), "nexus show " + string(s.Run) + " says why."
	default:
		return fmt.Sprintf("run %s has landed nothing yet and is not in progress", s.Run), "Continue it with nexus resume, then run nexus land."
	}
}
