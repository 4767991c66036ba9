package checkpointcmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/planconsent"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// forkResult is the JSON output of nexus checkpoint fork if the run does not start.
type forkResult struct {
	Run  nexus.RunID      `json:"run"`  // the new run
	From nexus.ForkOrigin `json:"from"` // the point at which it began
}

// ForkOptions are the options of nexus checkpoint fork.
type ForkOptions struct {
	Console *console.Console
	Run     string // as a person names it; empty: the default run
	Point   string // name of a checkpoint, number of an event, or a run; empty: the current point
	Hold    bool   // create the run, but do not start it
	Command progress.RunCommandOptions
}

// NewFork returns the command that starts another run from a point. It calls run with the parsed
// options; nil runs the command.
func NewFork(c *console.Console, run func(context.Context, *ForkOptions) error) *cobra.Command {
	o, old := &ForkOptions{Console: c}, ""
	if run == nil {
		run = forkAtPoint
	}
	const use, about = "fork [NAME|EVENT] [--run RUN] [flags]", "start another run from a checkpoint or an event of a run"
	command := c.Command(use, about, func(ctx context.Context, args []string) (err error) {
		if o.Point, o.Run, err = parsePoint(console.FirstArg(args), o.Run, old); err != nil {
			return err
		}
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePartial,
		console.CodeLimit, console.CodePerson, console.CodeHeld, console.CodeInterrupted)
	command.Args = console.ArgCount(0, 1)
	addPointFlag(command, "at", &old)
	command.Flags().BoolVar(&o.Hold, "hold", false, "create the run, but do not start it")
	c.RunFlag(command, &o.Run)
	c.SettingFlags(command, "approval", "parallel", "budget", "max-time", "model", "sandbox", "status-file")
	progress.OrderFlags(c, command, &o.Command)
	return command
}

// forkAtPoint creates the other run, and starts it.
func forkAtPoint(ctx context.Context, o *ForkOptions) error {
	if !o.Hold {
		if done, err := progress.RunInChildProcess(o.Console); done {
			return err
		}
	}
	return o.Console.ChangeRun(ctx, o.Run, func(p *app.Repository, _ journal.RecordedRun, s *state.State) error {
		from, err := parseForkPoint(ctx, o, p, &s)
		if err != nil {
			return err
		}
		id, err := o.Console.ForkRun(ctx, p, s, from, o.Console.UserName())
		if err != nil {
			return err
		}
		if o.Hold {
			return printFork(o.Console, s, from, id)
		}
		o.Console.Say("run %s starts at event %d of run %s", id, from.Seq, s.Run)
		o.Command.Run, o.Command.Agree = id, planconsent.NewDialog(o.Console, p)
		return progress.RunAndShow(ctx, o.Console, p, o.Command)
	})
}

// parseForkPoint returns the point that the options name. Without --run, the name may also be the whole ID of a
// run, which the fork then starts from as it is now; s becomes that run.
func parseForkPoint(ctx context.Context, o *ForkOptions, p *app.Repository, s **state.State) (app.RunHistoryPoint, error) {
	from, err := app.ParseRunPoint(*s, o.Point)
	if err == nil && (from.Seq < 1 || from.Seq > (*s).Seq) {
		err = app.NotFoundError("event", o.Point, fmt.Sprintf("The run is at event %d.", (*s).Seq))
	}
	if err == nil || o.Run != "" {
		return from, err
	}
	r, other := p.FindRun(ctx, o.Point)
	if other != nil || string(r.ID) != o.Point { // see [app.Repository.FindSubject]
		return from, err
	}
	if *s, err = p.Replay(ctx, r.ID); err != nil {
		return from, err
	}
	return app.ParseRunPoint(*s, "")
}

// printFork prints a run that is not started yet.
func printFork(a *console.Console, s *state.State, from app.RunHistoryPoint, id nexus.RunID) error {
	then, err := s.StateAt(from.Seq)
	if err != nil {
		return err
	}
	told := forkResult{Run: id, From: nexus.ForkOrigin{Run: s.Run, Seq: from.Seq, Checkpoint: from.CheckpointName(), Tip: then.Tip, By: a.UserName()}}
	return a.Answer(told, func(view.OutputStyle) string {
		return fmt.Sprintf("run %s starts at event %d of run %s\nStart it: nexus resume %s\n", id, from.Seq, s.Run, id)
	})
}
