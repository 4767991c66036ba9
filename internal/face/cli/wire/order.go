package wire

import (
	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Order is what a run is started or taken up with.
type Order struct {
	Run      nexus.RunID // one that exists; empty starts a new one
	Goal     nexus.Goal
	Plan     *nexus.Plan // nil lets the planner make one
	Headless bool        // answer every question by its fallback
	JSONL    bool        // events instead of a report
	Once     bool        // nothing is kept, so the report names no next command
}

// OrderFlags are the flags of every command that conducts a run.
func OrderFlags(a *frame.App, c *cobra.Command, o *Order) {
	c.Flags().BoolVar(&o.Headless, "headless", false, "ask nobody: every question is answered by its stated fallback")
	c.Flags().BoolP("yes", "y", false, "agree to the plan without being asked")
	c.Flags().BoolVar(&o.JSONL, "jsonl", false, "print every event as a line of JSON instead of a report")
	a.JSONFlag(c)
	c.MarkFlagsMutuallyExclusive("json", "jsonl")
}
