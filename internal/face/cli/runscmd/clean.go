package runscmd

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

func cleanCommand(a *console.Console) *cobra.Command {
	var dry bool
	c := a.Command("clean [--dry-run] [--json]", "remove worktrees that no run needs", func(ctx context.Context, _ []string) error {
		p, err := a.OpenRepository(ctx, app.ChangeAccess)
		if err != nil {
			return err
		}
		defer p.Close()
		removed, err := p.RemoveStaleWorktrees(ctx, dry)
		if err != nil {
			return err
		}
		dropped, err := a.DropExpiredCheckpoints(ctx, p, dry)
		if err != nil {
			return err
		}
		return a.Answer(map[string]any{"dry_run": dry, "removed": removed, "checkpoints": dropped}, func(view.Style) string {
			text := ""
			for _, name := range dropped {
				text += "checkpoint " + name + "\n"
			}
			for _, dir := range removed {
				text += dir + "\n"
			}
			if dry {
				return text + fmt.Sprintf("would remove %s\n", removedSummary(removed))
			}
			return text + fmt.Sprintf("removed %s\n", removedSummary(removed))
		})
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Flags().BoolVarP(&dry, "dry-run", "n", false, "print what would be removed, without removing it")
	a.JSONFlag(c)
	return c
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
	text := view.Count(trees, "worktree")
	if rest := len(removed) - trees; rest > 0 {
		text += " and " + view.Count(rest, "other leftover")
	}
	return text
}
