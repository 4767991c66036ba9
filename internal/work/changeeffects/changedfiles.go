package changeeffects

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// ChangedFiles returns the files of a working tree that differ from a commit (HEAD if rev is empty),
// including new ones, relative to dir.
func ChangedFiles(ctx context.Context, dir, rev string) ([]string, error) {
	repo, err := git.FindRepo(ctx, dir)
	if err != nil {
		return nil, err
	}
	commit, err := repo.Resolve(ctx, cmp.Or(rev, "HEAD"))
	if err != nil {
		return nil, err
	}
	was, err := repo.Run(ctx, "diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", commit)
	if err != nil {
		return nil, err
	}
	fresh, err := repo.Run(ctx, "ls-files", "--others", "--exclude-standard", "-z", "--full-name", ":/")
	if err != nil {
		return nil, err
	}
	var files []string
	for name := range strings.SplitSeq(was+"\x00"+fresh, "\x00") {
		if name == "" {
			continue
		}
		if name, err = filepath.Rel(dir, filepath.Join(repo.Work, filepath.FromSlash(name))); err == nil && filepath.IsLocal(name) {
			files = append(files, filepath.ToSlash(name))
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}
