// Command nexus takes a goal and brings back landed commits.
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
	"github.com/nexus-ai-builder/nexus/internal/sys/background"
)

// together is how far apart two signals are at least that are not one and the same: a
// terminal and a parent, or a program that manages processes, may send it twice.
const together = 200 * time.Millisecond

func main() {
	log.SetOutput(io.Discard) // where libraries mutter; what people must know is an error
	parent := background.FindParent()
	asks := []os.Signal{os.Interrupt, syscall.SIGTERM}
	if !parent.SharesTerminal() { // or else it goes on without its terminal
		asks = append(asks, syscall.SIGHUP)
	}
	ctx, stop := signal.NotifyContext(context.Background(), asks...)
	context.AfterFunc(ctx, func() { time.AfterFunc(together, stop) }) // the first signal asks, the second kills
	os.Exit(cli.Main(ctx, parent, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
