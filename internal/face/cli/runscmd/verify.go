package runscmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
)

func verifyCommand(a *console.Console) *cobra.Command {
	var o verifyOptions
	c := a.Command("verify [RUN] [flags]", "check the criteria that only a person can judge, and sign them off", func(ctx context.Context, args []string) error {
		o.Run = console.FirstArg(args)
		return judgeByHand(ctx, a, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePartial, console.CodePerson)
	c.Args = console.ArgCount(0, 1)
	c.Flags().BoolVar(&o.List, "checklist", false, "print the open criteria as Markdown, without asking")
	c.Flags().StringVar(&o.From, "from", "", "read the answers from the edited checklist in `FILE`; - is standard input")
	c.Flags().StringVar(&o.Plan, "plan", "", "write a plan that fixes the problems to `FILE`, for nexus run --plan; standard output if not given")
	a.JSONFlag(c)
	c.MarkFlagsMutuallyExclusive("checklist", "from")
	c.MarkFlagsMutuallyExclusive("checklist", "json")
	return c
}
