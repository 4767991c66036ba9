package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/plancmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/runcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/speccmd"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// newMilestone returns the earlier name of the commands about the roadmap.
func newMilestone(a *console.Console) *cobra.Command {
	c := presetCommand(speccmd.New(a, nil), "milestone [--json]", 0, "roadmap")
	c.AddCommand(
		presetCommand(speccmd.New(a, nil), "show NAME [--json]", 1, "roadmap"),
		presetCommand(speccmd.New(a, nil), "audit NAME [--json]", 1, "roadmap"),
		presetCommand(speccmd.New(a, nil), "close NAME [--json]", 1, "roadmap", "tag"),
		milestoneGoalCommand(plancmd.New(a, nil), "plan NAME [flags]"), milestoneGoalCommand(runcmd.New(a, nil), "run NAME [flags]"),
		goneCommand(a, "add", "Write \"## \" and its title into "+spec.RoadmapFile+", and below it the specs, goals and criteria; docs/plan-and-approve.md shows a roadmap."),
		goneCommand(a, "move", "Move its lines in "+spec.RoadmapFile+"."),
		goneCommand(a, "remove", "Delete its lines in "+spec.RoadmapFile+"."),
		goneCommand(a, "accept", "Write [x] in front of the criterion in "+spec.RoadmapFile+"."),
	)
	return a.HiddenAlias(c, "nexus spec --roadmap [MILESTONE], or nexus run --milestone MILESTONE")
}

// presetCommand makes a command an old name that takes so many arguments and sets these flags.
func presetCommand(c *cobra.Command, use string, args int, flags ...string) *cobra.Command {
	run := c.RunE
	c.Use, c.Args = use, console.ArgCount(args, args)
	c.RunE = func(c *cobra.Command, args []string) error {
		for _, name := range flags {
			if err := c.Flags().Set(name, "true"); err != nil {
				return err
			}
		}
		return run(c, args)
	}
	return c
}

// milestoneGoalCommand makes a command that takes a goal an old name that takes a milestone.
func milestoneGoalCommand(c *cobra.Command, use string) *cobra.Command {
	run := c.RunE
	c.Use, c.Args = use, console.ArgCount(1, 1)
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := c.Flags().Set("milestone", args[0]); err != nil {
			return err
		}
		return run(c, nil)
	}
	return c
}

// goneCommand returns a command that only says what to do instead.
func goneCommand(a *console.Console, name, instead string) *cobra.Command {
	c := a.Command(name, "edit the roadmap instead", func(context.Context, []string) error {
		return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "nexus milestone " + name + " is gone: the roadmap is a file that you edit", Hint: instead}
	}, console.CodeOK, console.CodeUsage)
	c.Args, c.DisableFlagParsing = cobra.ArbitraryArgs, true
	return c
}
