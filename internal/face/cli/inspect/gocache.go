package inspect

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/sys/gocache"
)

// gocacheCommand is the program that the go command calls inside a sandbox; see
// docs/decisions/0013-dependencies.md.
func gocacheCommand(a *console.Console) *cobra.Command {
	cache := gocache.BuildCache{Now: a.Now}
	c := a.Command("gocache --own DIR [--shared DIR]...", "serve a build cache to the go command", func(context.Context, []string) error {
		return cache.Serve(a.In, a.Out)
	}, console.CodeOK, console.CodeFailed)
	c.Hidden = true
	c.Flags().StringVar(&cache.Own, "own", "", "`DIR` that is written to")
	c.Flags().StringArrayVar(&cache.Shared, "shared", nil, "`DIR` that is only read")
	return c
}
