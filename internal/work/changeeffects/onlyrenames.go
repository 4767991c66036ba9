package changeeffects

import (
	"context"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// HasOnlyAllowedChanges reports whether only allows each change of a file between two commits: of its
// path, if the file moved, and of its text. A new, deleted or binary file is never allowed.
func HasOnlyAllowedChanges(ctx context.Context, repo git.Repo, base, commit string, only func(old, now string) bool) (bool, error) {
	changed, err := repo.ChangedFiles(ctx, base, commit)
	if err != nil || len(changed) == 0 || len(changed) > maxFiles {
		return false, err
	}
	moved, err := repo.RenamedPaths(ctx, base, commit)
	if err != nil {
		return false, err
	}
	from := map[string]string{}
	for was, is := range moved {
		from[is] = was
	}
	for _, c := range changed {
		was := c.Path
		switch {
		case moved[c.Path] != "":
			continue // the file is compared at its new path
		case from[c.Path] != "":
			was = from[c.Path]
		case c.Status != "M":
			return false, nil
		}
		old, err := FileTextAt(ctx, repo, base, was)
		if err != nil {
			return false, nil //nolint:nilerr // what cannot be compared is no rename
		}
		now, err := FileTextAt(ctx, repo, commit, c.Path)
		if err != nil || len(*old) >= maxText || len(*now) >= maxText || !only(was, c.Path) || !only(*old, *now) {
			return false, nil //nolint:nilerr // as above
		}
	}
	return true, nil
}
