// Command nexus takes a goal and brings back landed commits.
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/nexus-ai-builder/nexus/internal/face/cli"
)

func main() {
	log.SetOutput(io.Discard) // where libraries mutter; what people must know is an error
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	context.AfterFunc(ctx, stop) // the first signal asks, the second kills
	os.Exit(cli.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
