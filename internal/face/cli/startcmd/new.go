package startcmd

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func newCommand(a *console.Console) *cobra.Command {
	var o progress.RunCommandOptions
	var g newProject
	var file string
	c := a.Command("new DIR [IDEA] [flags]", "start a project from nothing: interview, first commit, plan, work", func(ctx context.Context, args []string) error {
		if err := o.Check(); err != nil {
			return err
		}
		if err := readInterviewGoal(ctx, a, &o, strings.TrimSpace(strings.Join(args[1:], " ")), file); err != nil {
			return err
		}
		o.Goal.Mode = nexus.Evolution
		return g.startProject(ctx, a, args[0], &o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePartial, console.CodeLimit, console.CodePerson, console.CodeHeld, console.CodeInterrupted)
	c.Args = console.ArgCount(1, -1)
	f := c.Flags()
	f.StringVarP(&file, "file", "f", "", "also read the idea from `FILE`; - is standard input")
	genesisFlags(c, &g)
	f.BoolVar(&g.bare, "no-run", false, "stop after the first commit")
	preferFlags(f, &o.Goal)
	a.SettingFlags(c, "preset", "approval", "parallel", "budget", "max-time", "model", "sandbox", "land")
	progress.StartFlags(c, &o)
	progress.OrderFlags(a, c, &o)
	return c
}

func genesisFlags(c *cobra.Command, g *newProject) {
	c.Flags().StringVar(&g.stack, "stack", "", "start the project with this `STACK` instead of the best fit")
}
