// Package landcmd implements the command "nexus land".
package landcmd

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
	"github.com/nexus-ai-builder/nexus/internal/face/cli/runrequest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// Options are the options of the command.
type Options struct {
	Console *console.Console
	Run     string // as --run names it; empty: the default run
	Name    string // whole ID of a run, as the argument; empty: none
	Target  string // branch to move; empty: the one that was checked out when the run started
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = land
	}
	const use, short = "land [RUN] [--target BRANCH] [--json]", "move your branch to the result of a run, merging if needed"
	command := c.Command(use, short, func(ctx context.Context, args []string) error {
		o.Name = console.FirstArg(args)
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePartial, console.CodePerson, console.CodeHeld, console.CodeInterrupted)
	command.Args = console.ArgCount(0, 1)
	command.Flags().StringVar(&o.Target, "target", "", "`BRANCH` to move; the default is the one that was checked out when the run started")
	c.RunFlag(command, &o.Run)
	c.JSONFlag(command)
	return command
}

// land moves the branch.
func land(ctx context.Context, o *Options) error {
	return o.Console.ChangeSubject(ctx, o.Run, o.Name, func(p *app.Repository, s app.RunSubject) error {
		if s.Part() != "" {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: s.Part() + " is not landed alone: nexus land moves your branch to all that its run landed",
				Hint: "Write nexus land --run " + string(s.ID) + ".",
			}
		}
		return landRun(ctx, o.Console, p, s, o.Target)
	})
}

// landRun requests that the landed changes of a run move to a branch, and does that itself if the
// run is not in progress.
func landRun(ctx context.Context, a *console.Console, p *app.Repository, to app.RunSubject, target string) error {
	r, s := to.RecordedRun, to.State
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
		return runrequest.SendTo(ctx, a, p, to, wish)
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
	return a.Answer(v, func(view.OutputStyle) string { return v.DeliveryText() + "\n" })
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
		return fmt.Sprintf("run %s landed nothing", s.Run), "nexus status --result " + string(s.Run) + " says why."
	default:
		return fmt.Sprintf("run %s has landed nothing yet and is not in progress", s.Run), "Continue it with nexus resume, then run nexus land."
	}
}
