package mutate

import (
	"cmp"
	"context"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/work/change"
)

const (
	maxText  = 1 << 20 // bytes of a file that is read
	maxFiles = 400     // number of files that are read
)

// Fresh returns the text files of a working tree that differ from a commit, with their new
// lines. For a file that moved since, the new lines are those that it did not have at its old
// path.
func Fresh(ctx context.Context, repo git.Repo, base string) ([]File, error) {
	paths, err := change.ChangedInWorktree(ctx, repo, base)
	if err != nil {
		return nil, err
	}
	from, err := origins(ctx, repo, base, "HEAD")
	if err != nil {
		return nil, err
	}
	var files []File
	for _, p := range paths[:min(len(paths), maxFiles)] {
		if now, err := change.ReadFile(repo.Work, p); err == nil {
			files = addFile(ctx, repo, base, cmp.Or(from[p], p), p, string(now), files)
		}
	}
	return files, nil
}

// FreshIn returns the text files of a commit that differ from those of its base, with their
// new lines. For a file that moved, the new lines are those that it did not have at its old
// path.
func FreshIn(ctx context.Context, repo git.Repo, base, commit string) ([]File, error) {
	changed, err := repo.Changed(ctx, base, commit)
	if err != nil {
		return nil, err
	}
	from, err := origins(ctx, repo, base, commit)
	if err != nil {
		return nil, err
	}
	var files []File
	for _, c := range changed[:min(len(changed), maxFiles)] {
		if c.Mode != "100644" && c.Mode != "100755" {
			continue
		}
		now, err := change.TextAt(ctx, repo, commit, c.Path)
		if err != nil {
			return nil, err
		}
		files = addFile(ctx, repo, base, cmp.Or(from[c.Path], c.Path), c.Path, *now, files)
	}
	return files, nil
}

// origins returns the previous paths of the files of a commit that moved since its base.
func origins(ctx context.Context, repo git.Repo, base, commit string) (map[string]string, error) {
	moved, err := repo.Renames(ctx, base, commit)
	from := make(map[string]string, len(moved))
	for was, is := range moved {
		from[is] = was
	}
	return from, err
}

// addFile adds a file with its lines that are new since the base, where its path was was.
func addFile(ctx context.Context, repo git.Repo, base, was, file, now string, files []File) []File {
	if len(now) >= maxText || strings.Contains(now, "\x00") {
		return files // not a text file
	}
	before := ""
	if old, err := change.TextAt(ctx, repo, base, was); err == nil {
		before = *old
	}
	return append(files, File{Path: file, Text: now, New: Lines(before, now)})
}
