// Package bench holds the commands that measure Nexus itself: what the
// simulator finds, how well the scheduler uses its workers, and what a turn
// of an agent costs beyond the work.
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
