// Package cleancmd implements the command "nexus clean".
package cleancmd

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// Options are the options of the command.
type Options struct {
	Console *console.Console
	DryRun  bool // only print what would be removed
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = removeLeftovers
	}
	command := c.Command("clean [--dry-run] [--json]", "remove worktrees that no run needs",
		func(ctx context.Context, _ []string) error { return run(ctx, o) }, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Flags().BoolVarP(&o.DryRun, "dry-run", "n", false, "print what would be removed, without removing it")
	c.JSONFlag(command)
	return command
}

// removeLeftovers removes worktrees, expired checkpoints and other leftovers.
func removeLeftovers(ctx context.Context, o *Options) error {
	p, err := o.Console.OpenRepository(ctx, app.ChangeAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	removed, err := p.RemoveStaleWorktrees(ctx, o.DryRun)
	if err != nil {
		return err
	}
	dropped, err := o.Console.DropExpiredCheckpoints(ctx, p, o.DryRun)
	if err != nil {
		return err
	}
	return o.Console.Answer(map[string]any{"dry_run": o.DryRun, "removed": removed, "checkpoints": dropped}, func(view.OutputStyle) string {
		text, word := "", "removed"
		for _, name := range dropped {
			text += "checkpoint " + name + "\n"
		}
		for _, dir := range removed {
			text += dir + "\n"
		}
		if o.DryRun {
			word = "would remove"
		}
		return text + fmt.Sprintf("%s %s\n", word, removedSummary(removed))
	})
}

// removedSummary describes the removed files: the number of worktrees, and the others by kind: locks
// without an owner, shared files, trash.
func removedSummary(removed []string) string {
	trees := 0
	for _, dir := range removed {
		if filepath.Base(filepath.Dir(filepath.Dir(dir))) == "trees" {
			trees++
		}
	}
	text := view.CountWithNoun(trees, "worktree")
	if rest := len(removed) - trees; rest > 0 {
		text += " and " + view.CountWithNoun(rest, "other leftover")
	}
	return text
}
