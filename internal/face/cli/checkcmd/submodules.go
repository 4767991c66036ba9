package checkcmd

import (
	"context"
	"path/filepath"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// ownSubmodules returns the submodules of a tree of r, at the commits in the tree, as far as the
// user's repository has them.
func ownSubmodules(ctx context.Context, r git.Repo, tree string, user git.Repo) (had []git.Submodule) {
	// Unavailable submodules are missing, and the gates report that.
	links, _ := git.ListSubmodules(ctx, r, tree, git.SubmoduleSourceOf(ctx, user))
	for _, l := range links {
		if l.IsFetched() {
			had = append(had, l)
		}
	}
	return had
}

// writeSubmodules writes submodules into a checkout; aside is a scratch directory.
func writeSubmodules(ctx context.Context, links []git.Submodule, to, aside string) {
	for _, l := range links {
		// The gates report missing files.
		_ = l.WriteFiles(ctx, filepath.Join(to, filepath.FromSlash(l.Path)), aside)
	}
}
