package look

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
	"github.com/nexus-ai-builder/nexus/internal/sys/gocache"
)

// gocacheCommand is for the go command: builds in worktrees call it.
func gocacheCommand(a *frame.App) *cobra.Command {
	var cache gocache.Cache
	c := a.Command("gocache --own DIR [--shared DIR]", "serve a build cache to the go command", func(context.Context, []string) error {
		cache.Now = a.Now
		return cache.Serve(a.In, a.Out)
	}, frame.CodeOK, frame.CodeFailed, frame.CodeUsage)
	c.Hidden = true
	c.Flags().StringVar(&cache.Own, "own", "", "`DIR` for what is built")
	c.Flags().StringArrayVar(&cache.Shared, "shared", nil, "`DIR` that is only read")
	return c
}
