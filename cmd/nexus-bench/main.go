// Command nexus-bench measures Nexus itself: what the simulator finds, how well the
// scheduler uses its workers, and what an agent's turn costs beyond the work.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/bench"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // the first signal asks, the second kills
	os.Exit(bench.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
