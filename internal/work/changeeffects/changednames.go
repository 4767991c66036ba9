package changeeffects

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/work/codemap"
)

// FileDeclarationChanges is a file of a change, with the change's effects on the names that the file
// declares for others.
type FileDeclarationChanges struct {
	git.ChangedTreeFile
	codemap.DeclarationChanges
}

// maxCompared limits how many files of a change are read for their names.
const maxCompared = 200

// ChangedNames returns the files that differ between two commits, by path, and the names that only
// one of the two versions declares.
func ChangedNames(ctx context.Context, repo git.Repo, from, to string) ([]FileDeclarationChanges, error) {
	changed, err := repo.ChangedFiles(ctx, from, to)
	if err != nil {
		return nil, err
	}
	all := make([]FileDeclarationChanges, len(changed))
	for i, c := range changed {
		if all[i].ChangedTreeFile = c; i >= maxCompared {
			continue
		}
		before, after := "", ""
		if c.Status != "A" {
			before = fileTextAt(ctx, repo, from, c.Path)
		}
		if c.Status != "D" {
			after = fileTextAt(ctx, repo, to, c.Path)
		}
		all[i].DeclarationChanges = codemap.CompareDeclarations(c.Path, before, after)
	}
	return all, nil
}

// fileTextAt returns the text of a file of a commit, or "" if it does not exist.
func fileTextAt(ctx context.Context, repo git.Repo, commit, file string) string {
	if t, err := FileTextAt(ctx, repo, commit, file); err == nil && t != nil {
		return *t
	}
	return ""
}
