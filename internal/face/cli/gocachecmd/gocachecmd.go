// Package gocachecmd implements the hidden command "nexus gocache", the program that the go command
// calls inside a sandbox; see docs/decisions/0013-dependencies.md.
package gocachecmd

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/sys/gocache"
)

// Options are the options of the command.
type Options struct {
	Console *console.Console
	Cache   gocache.GoBuildCache
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c, Cache: gocache.GoBuildCache{Now: c.Now}}
	if run == nil {
		run = serveCache
	}
	command := c.Command("gocache --own DIR [--shared DIR]...", "serve a build cache to the go command",
		func(ctx context.Context, _ []string) error { return run(ctx, o) }, console.CodeOK, console.CodeFailed)
	command.Hidden = true
	command.Flags().StringVar(&o.Cache.Own, "own", "", "`DIR` that is written to")
	command.Flags().StringArrayVar(&o.Cache.Shared, "shared", nil, "`DIR` that is only read")
	return command
}

// serveCache answers the go command on standard input and output until it closes them.
func serveCache(_ context.Context, o *Options) error {
	return o.Cache.Serve(o.Console.In, o.Console.Out)
}
