package watch

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/verify"
)

func verifyCommand(a *frame.Console) *cobra.Command {
	var o verify.Order
	c := a.Command("verify [RUN] [flags]", "look at what only a person can tell of what landed, and sign for it", func(ctx context.Context, args []string) error {
		o.Run = frame.First(args)
		return verify.Look(ctx, a, o)
	}, frame.CodeOK, frame.CodeFailed, frame.CodeUsage, frame.CodePartial, frame.CodePerson)
	c.Args = frame.Takes(0, 1)
	c.Flags().BoolVar(&o.List, "checklist", false, "print what waits for a person as Markdown, and ask nobody")
	c.Flags().StringVar(&o.From, "from", "", "take the answers of an edited checklist out of `FILE`, - for standard input")
	c.Flags().StringVar(&o.Plan, "plan", "", "write a plan that mends what is wrong to `FILE`, for nexus run --plan; standard output if not given")
	a.JSONFlag(c)
	c.MarkFlagsMutuallyExclusive("checklist", "from")
	c.MarkFlagsMutuallyExclusive("checklist", "json")
	return c
}
