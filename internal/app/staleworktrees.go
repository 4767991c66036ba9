package app

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/depcache"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
)

// RemoveStaleWorktrees removes the worktrees of runs that have ended. Of runs whose process died it removes
// those that can be created again: trees of bases. The work in them is pinned by a ref; a
// worktree with unpinned work stays.
func (p *Repository) RemoveStaleWorktrees(ctx context.Context, dry bool) (all []string, err error) {
	if p.Journal == nil {
		return []string{}, nil
	}
	runs, err := p.Runs(ctx)
	if err != nil {
		return nil, err
	}
	ended, gone := map[nexus.RunID]bool{}, map[nexus.RunID]bool{}
	for _, r := range runs {
		s, err := p.Replay(ctx, r.ID)
		if err != nil {
			return nil, err
		}
		ended[r.ID], gone[r.ID] = s.Status.HasEnded() && r.Holder == nil, r.Gone
	}
	store, err := worktree.OpenStore(ctx, p.Repo, p.State)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, store.Close()) }() // the removed trees are deleted then
	removed, err := store.RemoveTrees(ctx, func(run nexus.RunID, id nexus.AttemptID) bool {
		anew := gone[run] && strings.HasPrefix(string(id), "base-")
		return !ended[run] && !anew
	}, dry)
	if err != nil {
		return append([]string{}, removed...), err
	}
	// Prepared dependencies of worktrees are kept for the next one, within limits.
	homes, err := fs.Glob(os.DirFS(p.State), "trees/*/*")
	if err != nil {
		return nil, err
	}
	for i, home := range homes {
		homes[i] = filepath.Join(p.State, home)
	}
	sets := &depcache.DependencySetStore{Dir: filepath.Join(p.State, "environments")}
	rest, err := sets.SweepSets(ctx, homes, depcache.DefaultCacheLimits(), dry)
	return append(append([]string{}, removed...), rest...), err
}
