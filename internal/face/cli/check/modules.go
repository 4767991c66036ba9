package check

import (
	"context"
	"path/filepath"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// ownSubmodules returns the submodules of a tree of r, at the commits that it names,
// as far as the user's repository has them.
func ownSubmodules(ctx context.Context, r git.Repo, tree string, user git.Repo) (had []git.Submodule) {
	links, _ := git.Submodules(ctx, r, tree, git.SubmodulesOf(ctx, user)) // what cannot be had is missing, and the gates say so
	for _, l := range links {
		if l.IsFetched() {
			had = append(had, l)
		}
	}
	return had
}

// laySubmodules writes submodules into a checkout; aside is a directory for scratch.
func laySubmodules(ctx context.Context, links []git.Submodule, to, aside string) {
	for _, l := range links {
		_ = l.WriteFiles(ctx, filepath.Join(to, filepath.FromSlash(l.Path)), aside) // what is missing is told by the gates
	}
}
