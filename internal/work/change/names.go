package change

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/work/codemap"
)

// FileNames is a file of a change, with the change's effects on the names that the file
// declares for others.
type FileNames struct {
	git.Change
	codemap.Compared
}

// maxCompared limits how many files of a change are read for their names.
const maxCompared = 200

// Names returns the files that differ between two commits, by path, and the names that only
// one of the two versions declares.
func Names(ctx context.Context, repo git.Repo, from, to string) ([]FileNames, error) {
	changed, err := repo.Changed(ctx, from, to)
	if err != nil {
		return nil, err
	}
	all := make([]FileNames, len(changed))
	for i, c := range changed {
		if all[i].Change = c; i >= maxCompared {
			continue
		}
		before, after := "", ""
		if c.Status != "A" {
			before = textOf(ctx, repo, from, c.Path)
		}
		if c.Status != "D" {
			after = textOf(ctx, repo, to, c.Path)
		}
		all[i].Compared = codemap.Compare(c.Path, before, after)
	}
	return all, nil
}

// textOf returns the text of a file of a commit, or "" if it does not exist.
func textOf(ctx context.Context, repo git.Repo, commit, file string) string {
	if t, err := TextAt(ctx, repo, commit, file); err == nil && t != nil {
		return *t
	}
	return ""
}
