// Package newcmd implements the command "nexus new".
package newcmd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/goalinterview"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/goalsource"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/newproject"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Options are the options of the command.
type Options struct {
	Console *console.Console
	Dir     string // of the project
	Idea    string // the words
	File    string // with more of the idea; - is standard input
	Project newproject.Options
	Command progress.RunCommandOptions
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = startProject
	}
	const use, short = "new DIR [IDEA] [flags]", "start a project from nothing: interview, first commit, plan, work"
	command := c.Command(use, short, func(ctx context.Context, args []string) error {
		o.Dir, o.Idea = args[0], strings.TrimSpace(strings.Join(args[1:], " "))
		if err := o.Command.Check(); err != nil {
			return err
		}
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePartial, console.CodeLimit, console.CodePerson, console.CodeHeld, console.CodeInterrupted)
	command.Args = console.ArgCount(1, -1)
	f := command.Flags()
	f.StringVarP(&o.File, "file", "f", "", "also read the idea from `FILE`; - is standard input")
	o.Project.Flags(command)
	f.BoolVar(&o.Project.Bare, "no-run", false, "stop after the first commit")
	goalsource.TierFlags(f, &o.Command.Goal)
	c.SettingFlags(command, "preset", "approval", "parallel", "budget", "max-time", "model", "sandbox", "land")
	progress.StartFlags(command, &o.Command)
	progress.OrderFlags(c, command, &o.Command)
	return command
}

// startProject starts the project.
func startProject(ctx context.Context, o *Options) error {
	if err := goalinterview.ReadGoal(ctx, o.Console, &o.Command, o.Idea, o.File); err != nil {
		return err
	}
	o.Command.Goal.Mode = nexus.Evolution
	return o.Project.Start(ctx, o.Console, o.Dir, &o.Command)
}
