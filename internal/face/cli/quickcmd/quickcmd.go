// Package quickcmd implements the command "nexus quick".
package quickcmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/goalsource"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/planconsent"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/planfile"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/precheck"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
)

// Options are the options of the command.
type Options struct {
	Console *console.Console
	Source  goalsource.Source
	Check   string // gate or command that passes when the task is done; empty: from the text, or the gate test
	Stays   bool   // the check may pass before the work
	Command progress.RunCommandOptions
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c, Source: goalsource.Source{Task: true}}
	if run == nil {
		run = runTask
	}
	const use, short = "quick TASK | -f FILE | --finding NAME [flags]", "do one task without a plan, with the same gates"
	command := c.Command(use, short, func(ctx context.Context, args []string) error {
		o.Source.SetWords(args)
		if err := o.Command.Check(); err != nil {
			return err
		}
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePartial, console.CodeLimit, console.CodePerson, console.CodeHeld, console.CodeInterrupted)
	command.Args = console.ArgCount(0, -1)
	f := command.Flags()
	f.StringVarP(&o.Source.File, "file", "f", "", "read the task from `FILE`; - is standard input")
	o.Source.FindingFlag(command)
	command.MarkFlagsMutuallyExclusive("file", "finding")
	goalsource.TierFlags(f, &o.Command.Goal)
	f.StringVar(&o.Check, "check", "", "gate or `COMMAND` that passes when the task is done; the default is a command that the task says fails, or else the gate test")
	f.BoolVar(&o.Stays, "stays", false, "the task keeps existing behavior, so a check that passes before the work counts")
	command.MarkFlagsMutuallyExclusive("check", "finding")
	command.MarkFlagsMutuallyExclusive("stays", "finding")
	c.SettingFlags(command, "preset", "approval", "budget", "max-time", "model", "sandbox", "target", "land", "strict", "skip", "status-file")
	progress.StartFlags(command, &o.Command)
	progress.OrderFlags(c, command, &o.Command)
	return command
}

// runTask does the task, as the only one of a run.
func runTask(ctx context.Context, o *Options) error {
	a, command := o.Console, &o.Command
	if done, err := progress.RunInChildProcess(a); done {
		return err
	}
	if err := o.Source.Read(ctx, a, command); err != nil {
		return err
	}
	command.Goal.Mode = nexus.Quick
	if command.Plan == nil {
		single := plan.SingleTaskPlan(command.Goal.Text, o.Check)
		if criteria := single.Tasks[0].Criteria; o.Stays {
			for i := range criteria {
				criteria[i].Kind = nexus.StaysCriterion
			}
		}
		command.Plan = &single
	}
	if err := planfile.SetTierAndStrategy(command.Plan, command.Goal); err != nil {
		return err
	}
	p, err := a.OpenRepository(ctx, app.CreateAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := precheck.Check(ctx, a, p, &command.RunOptions); err != nil {
		return err
	}
	if err := planconsent.Set(a, p, command, false); err != nil {
		return err
	}
	return progress.RunAndShow(ctx, a, p, *command)
}
