package watch

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/verify"
)

func verifyCommand(a *frame.Console) *cobra.Command {
	var o verify.Order
	c := a.Command("verify [RUN] [flags]", "check what only a person can judge, and sign it off", func(ctx context.Context, args []string) error {
		o.Run = frame.First(args)
		return verify.Look(ctx, a, o)
	}, frame.CodeOK, frame.CodeFailed, frame.CodeUsage, frame.CodePartial, frame.CodePerson)
	c.Args = frame.Takes(0, 1)
	c.Flags().BoolVar(&o.List, "checklist", false, "print what waits for a person as Markdown, without asking")
	c.Flags().StringVar(&o.From, "from", "", "read the answers from the edited checklist in `FILE`; - is standard input")
	c.Flags().StringVar(&o.Plan, "plan", "", "write a plan that fixes what is wrong to `FILE`, for nexus run --plan; standard output if not given")
	a.JSONFlag(c)
	c.MarkFlagsMutuallyExclusive("checklist", "from")
	c.MarkFlagsMutuallyExclusive("checklist", "json")
	return c
}
