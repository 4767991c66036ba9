// Package resumecmd implements the command "nexus resume".
package resumecmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/checkcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/planconsent"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/runrequest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Options are the options of the command.
type Options struct {
	Console *console.Console
	Run     string // as a person names it; empty: the default run
	Name    string // run, or paused task; empty: the run
	Command progress.RunCommandOptions
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = resume
	}
	const use, short = "resume [RUN|TASK] [flags]", "continue a run that paused or ended early, or a paused task"
	command := c.Command(use, short, func(ctx context.Context, args []string) error {
		o.Name = console.FirstArg(args)
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePartial, console.CodeLimit, console.CodePerson, console.CodeHeld, console.CodeInterrupted)
	command.Args = console.ArgCount(0, 1)
	c.RunFlag(command, &o.Run)
	c.SettingFlags(command, "approval", "step", "parallel", "budget", "max-time", "model", "sandbox", "status-file")
	progress.OrderFlags(c, command, &o.Command)
	progress.DetachFlag(command, &o.Command)
	progress.WatchFlag(command, &o.Command)
	return command
}

// resume continues the run or the task.
func resume(ctx context.Context, o *Options) error {
	if o.Name != "" {
		if done, err := resumeTask(ctx, o); done || err != nil {
			return err
		}
	}
	a := o.Console
	if start, err := o.Command.BackgroundStarter(a, false); err != nil {
		return err
	} else if start != nil {
		return start(ctx, a, o.Command)
	}
	if done, err := progress.RunInChildProcess(a); done {
		return err
	}
	return a.ChangeSubject(ctx, o.Run, o.Name, func(p *app.Repository, s app.RunSubject) error { return resumeRun(ctx, o, p, s) })
}

// resumeTask lets a paused task continue, if the name is that of a task.
func resumeTask(ctx context.Context, o *Options) (done bool, err error) {
	p, err := o.Console.OpenRepository(ctx, app.ChangeAccess)
	if err != nil {
		return false, err
	}
	defer p.Close()
	s, err := p.FindSubject(ctx, o.Run, o.Name)
	if err != nil || s.Part() == "" {
		return false, err
	}
	if err := s.RequireTask(o.Name); err != nil {
		return false, err
	}
	if s, err = o.Console.FindSubject(ctx, p, o.Run, o.Name); err != nil { // says which run is meant
		return false, err
	}
	return true, runrequest.SendTo(ctx, o.Console, p, s, nexus.Request{Verb: nexus.VerbResume, Task: s.Task})
}

// resumeRun continues the run in this process, or lets the process that runs it continue.
func resumeRun(ctx context.Context, o *Options, p *app.Repository, s app.RunSubject) error {
	a := o.Console
	o.Command.Run, o.Command.Agree, o.Command.Yours = s.ID, planconsent.NewDialog(a, p), checkcmd.InPlace(a, p.Repo)
	err := progress.RunAndShow(ctx, a, p, o.Command)
	if !errors.Is(err, &nexus.Error{Code: nexus.CodeRunHeld}) {
		return err
	}
	var replayed error
	if s.State, replayed = p.Replay(ctx, s.ID); replayed != nil || s.State.Status != nexus.StatusPaused {
		progress.SayPaused(a, s.State)
		return err
	}
	return runrequest.SendTo(ctx, a, p, s, nexus.Request{Verb: nexus.VerbResume})
}
