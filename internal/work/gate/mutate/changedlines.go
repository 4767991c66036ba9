package mutate

import (
	"cmp"
	"context"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/work/changeeffects"
)

const (
	maxText  = 1 << 20 // bytes of a file that is read
	maxFiles = 400     // number of files that are read
)

// ChangedFiles returns the text files of a working tree that differ from a commit, with their new
// lines. For a file that moved since, the new lines are those that it did not have at its old
// path.
func ChangedFiles(ctx context.Context, repo git.Repo, base string) ([]MutableFile, error) {
	paths, err := changeeffects.ChangedInWorktree(ctx, repo, base)
	if err != nil {
		return nil, err
	}
	from, err := renameOrigins(ctx, repo, base, "HEAD")
	if err != nil {
		return nil, err
	}
	var files []MutableFile
	for _, p := range paths[:min(len(paths), maxFiles)] {
		if now, err := changeeffects.ReadFile(repo.Work, p); err == nil {
			files = appendChangedFile(ctx, repo, base, cmp.Or(from[p], p), p, string(now), files)
		}
	}
	return files, nil
}

// ChangedFilesIn returns the text files of a commit that differ from those of its base, with their
// new lines. For a file that moved, the new lines are those that it did not have at its old
// path.
func ChangedFilesIn(ctx context.Context, repo git.Repo, base, commit string) ([]MutableFile, error) {
	changed, err := repo.ChangedFiles(ctx, base, commit)
	if err != nil {
		return nil, err
	}
	from, err := renameOrigins(ctx, repo, base, commit)
	if err != nil {
		return nil, err
	}
	var files []MutableFile
	for _, c := range changed[:min(len(changed), maxFiles)] {
		if c.Mode != "100644" && c.Mode != "100755" {
			continue
		}
		now, err := changeeffects.FileTextAt(ctx, repo, commit, c.Path)
		if err != nil {
			return nil, err
		}
		files = appendChangedFile(ctx, repo, base, cmp.Or(from[c.Path], c.Path), c.Path, *now, files)
	}
	return files, nil
}

// renameOrigins returns the previous paths of the files of a commit that moved since its base.
func renameOrigins(ctx context.Context, repo git.Repo, base, commit string) (map[string]string, error) {
	moved, err := repo.RenamedPaths(ctx, base, commit)
	from := make(map[string]string, len(moved))
	for was, is := range moved {
		from[is] = was
	}
	return from, err
}

// appendChangedFile adds a file with its lines that are new since the base, where its path was was.
func appendChangedFile(ctx context.Context, repo git.Repo, base, was, file, now string, files []MutableFile) []MutableFile {
	if len(now) >= maxText || strings.Contains(now, "\x00") {
		return files // not a text file
	}
	before := ""
	if old, err := changeeffects.FileTextAt(ctx, repo, base, was); err == nil {
		before = *old
	}
	return append(files, MutableFile{Path: file, Text: now, New: AddedLines(before, now)})
}
