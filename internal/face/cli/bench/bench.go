// Package bench implements the commands that measure Nexus itself: the findings of the simulator,
// the worker utilisation of the scheduler, and the overhead of an agent's turn.
package bench

import (
	"cmp"
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
)

// Main runs one command line of nexus-bench and returns the exit code of its process.
func Main(ctx context.Context, args []string, in io.Reader, out, err io.Writer) int {
	a := console.NewForProcess(in, out, err)
	c := Root(a) //nolint:contextcheck // cobra hands the context to the command that runs
	c.SetArgs(args)
	a.Args = args
	failure := cmp.Or(c.ExecuteContext(ctx), a.Lost)
	a.Fail(failure)
	return console.ExitCode(ctx, failure)
}

// Root returns the command nexus-bench with its commands.
func Root(a *console.Console) *cobra.Command {
	root := a.ParentCommand(
		"nexus-bench", "measure Nexus itself, with repeatable results",
		chaosCommand(a), budgetCommand(a), scheduleCommand(a), estimatesCommand(a), agentCommand(a), mapCommand(a), promptsCommand(a),
	)
	a.SetUpRoot(root)
	return root
}

// benchmarkFlags are the flags of every benchmark.
type benchmarkFlags struct {
	seed uint64
	n    int
}

func (s *benchmarkFlags) addFlags(a *console.Console, c *cobra.Command, n int, what string) {
	c.Flags().Uint64Var(&s.seed, "seed", 1, "`SEED` for generated input")
	c.Flags().IntVar(&s.n, "n", n, "`N`, "+what)
	a.JSONFlag(c)
}
