package milestonecmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/startcmd"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

func planCommand(a *console.Console) *cobra.Command {
	c := milestoneGoalCommand(a, startcmd.PlanCommand(a), "plan NAME [flags]", "plan the gaps of a milestone")
	for _, flag := range []string{"run", "diff"} {
		_ = c.Flags().MarkHidden(flag) // hidden: plan already has it
	}
	return c
}

func runCommand(a *console.Console) *cobra.Command {
	c := milestoneGoalCommand(a, startcmd.RunCommand(a), "run NAME [flags]", "work on the gaps of a milestone")
	for _, flag := range []string{"finding", "comment", "stack"} {
		_ = c.Flags().MarkHidden(flag)
	}
	return c
}

// milestoneGoalCommand makes a command that accepts a goal accept a milestone instead, with its gaps as the
// goal.
func milestoneGoalCommand(a *console.Console, c *cobra.Command, use, short string) *cobra.Command {
	start := c.RunE
	c.Use, c.Short, c.Args = use, short, console.ArgCount(1, 1)
	c.RunE = func(c *cobra.Command, args []string) error {
		goal, err := missingGoal(c.Context(), a, args[0])
		if err != nil || goal == "" {
			return err
		}
		return start(c, []string{goal})
	}
	for _, flag := range []string{"file", "plan", "format"} {
		_ = c.Flags().MarkHidden(flag)
	}
	return c
}

// missingGoal returns the gaps of a milestone as a goal, or an error if no run could close a gap.
func missingGoal(ctx context.Context, a *console.Console, name string) (string, error) {
	got, k, err := auditNamed(ctx, a, name)
	if err != nil {
		return "", err
	}
	s, work := got.MissingSpec(k.Specs)
	switch {
	case got.Closed != nil:
		return "", alreadyClosedError(got.Milestone, "Add another milestone for more work.")
	case !work && len(got.Gaps) > 0:
		a.Say("no run can close the gaps of %s; continue with the commands below", got.Name)
		return "", printAudit(a, got)
	case !work:
		return "", printAudit(a, got)
	}
	a.Say("the goal is now to close the gaps of %s: %s", got.Name, view.Count(len(s.Requirements)+len(s.Criteria), "part"))
	return string(spec.FormatMarkdown(s)), nil
}
