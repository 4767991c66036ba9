package worktree

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// removeUntracked removes everything that the last scan, which was the first since [treeScanCache.Forget],
// excluded: ignored files, files that git cannot store, the .git of repositories within, and
// directories without files. The empty directory of a submodule remains, and so does the .git of
// the tree itself.
func (t treeChangeFinder) removeUntracked(k *treeScanCache) error {
	for p := range k.ignored {
		if err := k.removeIgnoredPath(t.Dir, p); err != nil {
			return err
		}
	}
	k.Forget()
	from := t.Dir
	if t.Upper != "" {
		from = t.Upper // no directory below it is empty
	}
	var dirs []string
	err := filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		p, _ := filepath.Rel(from, name) // name is below from
		switch {
		case err != nil || p == "." || p == dotGit:
			return err
		case k.isExternal(filepath.ToSlash(p)):
			if d.IsDir() {
				return fs.SkipDir
			}
		case d.Name() == dotGit:
			if err := filewrite.RemoveAll(filepath.Join(t.Dir, p)); err != nil || !d.IsDir() {
				return err
			}
			return fs.SkipDir
		case d.IsDir():
			if !t.isGitlink(k, filepath.ToSlash(p)) {
				dirs = append(dirs, p)
			}
		case !d.Type().IsRegular() && d.Type() != fs.ModeSymlink:
			return filewrite.RemoveAll(filepath.Join(t.Dir, p)) // a whiteout has no file to remove
		}
		return nil
	})
	for _, p := range slices.Backward(dirs) {
		_ = os.Remove(filepath.Join(t.Dir, p)) // fails if it is not empty
	}
	return err
}

// isGitlink reports whether a path is the directory of a submodule's commit.
func (t treeChangeFinder) isGitlink(k *treeScanCache, p string) bool {
	if f, ok := k.Recent[p]; ok {
		return f.Mode == git.ModeGitlink
	}
	e, ok := t.Base.Find(p)
	return ok && e.Mode == git.ModeGitlink
}
