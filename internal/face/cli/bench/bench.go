// Package bench implements the commands that measure Nexus itself: the findings of the simulator,
// the worker utilisation of the scheduler, and the overhead of an agent's turn.
package bench

import (
	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
)

// Commands returns the commands.
func Commands(a *console.Console) []*cobra.Command {
	return []*cobra.Command{
		a.Parent("bench", "measure Nexus itself, with repeatable results", chaosCommand(a), budgetCommand(a), scheduleCommand(a), estimatesCommand(a), agentCommand(a), mapCommand(a), promptsCommand(a)),
	}
}

// size are the flags of every benchmark.
type size struct {
	seed uint64
	n    int
}

func (s *size) flags(a *console.Console, c *cobra.Command, n int, what string) {
	c.Flags().Uint64Var(&s.seed, "seed", 1, "`SEED` for generated input")
	c.Flags().IntVar(&s.n, "n", n, "`N`, "+what)
	a.JSONFlag(c)
}
