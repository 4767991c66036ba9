// Command nexus turns a goal into landed commits.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/face/cli"
	"github.com/nexus-ai-builder/nexus/internal/sys/backgroundprocess"
)

// together is the least time between two separate signals: a terminal and a parent, or a
// program that manages processes, may send one signal twice.
const together = 200 * time.Millisecond

func main() {
	log.SetOutput(io.Discard) // output of libraries; everything that people must know is an error
	parent := backgroundprocess.FindParent()
	asks := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !parent.SharesTerminal() { // otherwise it would continue without its terminal
		asks = append(asks, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), asks...)
	context.AfterFunc(ctx, func() { time.AfterFunc(together, stop) }) // the first signal asks, the second kills
	os.Exit(cli.Main(ctx, parent, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
