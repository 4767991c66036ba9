package changeeffects

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/tamper"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// SuspectsInTree returns the suspicious changes of a working tree to the tests and gates of a
// commit. It writes neither the index nor the repository.
func SuspectsInTree(ctx context.Context, repo git.Repo, base string) ([]nexus.Finding, error) {
	paths, err := ChangedInWorktree(ctx, repo, base)
	if err != nil {
		return nil, err
	}
	var files []tamper.ChangedFileVersions
	rest := 0
	for _, p := range paths {
		if !tamper.AffectsChecks(p) {
			if rest++; rest > maxFiles {
				files = append(files, tamper.ChangedFileVersions{Path: p}) // its name is enough
				continue
			}
		}
		f := tamper.ChangedFileVersions{Path: p}
		if old, err := FileTextAt(ctx, repo, base, p); err == nil {
			f.Old = old
		} else if _, quit := errors.AsType[*git.ExitError](err); !quit {
			return nil, err
		}
		switch now, err := ReadFile(repo.Work, p); {
		case err == nil:
			said := string(now[:min(len(now), maxText)])
			f.New = &said
		case !errors.Is(err, fs.ErrNotExist):
			continue // no regular file: there is nothing to compare
		}
		files = append(files, f)
	}
	return tamper.FindTampering(files), nil
}

// ChangedInWorktree returns the files of a working tree that differ from a commit, by path,
// including new ones and without ignored ones.
func ChangedInWorktree(ctx context.Context, repo git.Repo, base string) ([]string, error) {
	var all []string
	for _, args := range [][]string{
		{"diff-index", "-z", "--name-only", "--no-renames", "--end-of-options", base, "--"},
		{"ls-files", "-z", "--others", "--exclude-standard"},
	} {
		out, err := repo.Run(ctx, args...)
		if err != nil {
			return nil, err
		}
		all = append(all, strings.FieldsFunc(out, func(r rune) bool { return r == 0 })...)
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}
