// Package runcmd implements the command "nexus run".
package runcmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/backlogrun"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/goalinterview"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/goalsource"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/newproject"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/plancmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/planconsent"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/planfile"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/precheck"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/trustcmd"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Options are the options of the command.
type Options struct {
	Console *console.Console
	Source  goalsource.Source
	Backlog bool // the waiting items of the backlog are the work
	DryRun  bool // the plan is printed, and not run
	Project newproject.Options
	Command progress.RunCommandOptions
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = runCommand
	}
	const use = "run GOAL | -f FILE | --plan FILE|DIR | --finding NAME | --milestone NAME | --backlog [flags]"
	command := c.Command(use, "work on a goal: plan, code, check, land", func(ctx context.Context, args []string) error {
		o.Source.SetWords(args)
		if o.Backlog && o.Source.Text != "" {
			return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "both a goal and --backlog were given", Hint: "Give one of them."}
		}
		if err := o.Command.Check(); err != nil {
			return err
		}
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePartial, console.CodeLimit, console.CodePerson, console.CodeHeld, console.CodeInterrupted)
	command.Args = console.ArgCount(0, -1)
	o.flags(command)
	return command
}

// flags adds the flags of the command.
func (o *Options) flags(c *cobra.Command) {
	o.Source.Flags(c)
	o.Source.FindingFlag(c)
	f := c.Flags()
	f.BoolVar(&o.Source.Comment, "comment", false, "keep one comment with the status of the run on the issue that the goal comes from")
	f.BoolVar(&o.Backlog, "backlog", false, "work on the waiting items of the backlog, in their order")
	c.MarkFlagsMutuallyExclusive("file", "plan", "finding", "backlog", "milestone")
	c.MarkFlagsMutuallyExclusive("comment", "backlog")
	f.BoolVarP(&o.DryRun, "dry-run", "n", false, "make or check the plan and print it, without running it")
	c.MarkFlagsMutuallyExclusive("dry-run", "backlog")
	o.Project.Flags(c)
	goalsource.TierFlags(f, &o.Command.Goal)
	o.Console.SettingFlags(c, "preset", "approval", "step", "parallel", "budget", "max-time", "model", "sandbox", "target", "land", "strict",
		"skip", "status-file")
	progress.StartFlags(c, &o.Command)
	progress.OrderFlags(o.Console, c, &o.Command)
	progress.DetachFlag(c, &o.Command)
	progress.WatchFlag(c, &o.Command)
	c.MarkFlagsMutuallyExclusive("detach", "dry-run")
}

// runCommand runs the command line: in the background, in a child process that shares the terminal, or
// here.
func runCommand(ctx context.Context, o *Options) error {
	a, command := o.Console, &o.Command
	if start, err := command.BackgroundStarter(a, o.DryRun); err != nil {
		return err
	} else if start != nil {
		if err := askTrust(ctx, o); err != nil {
			return err
		}
		return start(ctx, a, *command)
	}
	if done, err := progress.RunInChildProcess(a); done {
		return err
	}
	if o.Backlog {
		return backlogrun.RunAll(ctx, a, command)
	}
	return runGoal(ctx, o)
}

// runGoal works on the goal or the plan, in this process.
func runGoal(ctx context.Context, o *Options) error {
	a, command := o.Console, &o.Command
	if err := o.Source.Read(ctx, a, command); err != nil {
		return err
	}
	if err := planfile.SetTierAndStrategy(command.Plan, command.Goal); err != nil {
		return err
	}
	p, err := a.OpenRepository(ctx, app.CreateAccess)
	if command.Plan == nil && !o.DryRun {
		if dir, ok := newproject.EmptyDir(ctx, a, p, err); ok {
			return o.Project.Start(ctx, a, dir, command)
		}
	}
	if err != nil {
		return err
	}
	defer p.Close()
	if err := prepare(ctx, o, p); err != nil {
		return err
	}
	if o.DryRun {
		return plancmd.PrintNew(ctx, a, p, *command, plancmd.Output{Imported: o.Source.Imported})
	}
	if err := planconsent.Set(a, p, command, a.HasPerson() || progress.NeedsPlanConsent(a)); err != nil {
		return err
	}
	return progress.RunAndShow(ctx, a, p, *command)
}

// prepare does the steps before a run: it asks a person about untrusted agents, checks whether
// the run can start, and asks the user about open points of the goal.
func prepare(ctx context.Context, o *Options, p *app.Repository) error {
	if err := askTrust(ctx, o); err != nil {
		return err
	}
	if err := precheck.Check(ctx, o.Console, p, &o.Command.RunOptions); err != nil {
		return err
	}
	return goalinterview.Clarify(ctx, o.Console, p, &o.Command)
}

// askTrust asks the person about untrusted agents.
func askTrust(ctx context.Context, o *Options) error {
	if o.Command.Headless {
		return nil
	}
	return trustcmd.AskTrust(ctx, o.Console)
}
