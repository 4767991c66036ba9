package tool

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/ignore"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/files"
)

// jobsSuffix is the suffix of the directory that background commands write to instead of to
// the tree; its prefix is the directory of the other commands.
const jobsSuffix = "-jobs"

// CommandWriteGuard restricts the commands of a role that may not write all of a tree to the allowed
// files: by a layer over the tree, or by undoing changes against its rule.
type CommandWriteGuard struct {
	Tree *worktree.AttemptTree
	Box  *sandbox.Box
	Git  git.Repo                // the private clone
	Base func() string           // commit of the tree's last snapshot
	Rule func(name string) error // why a file may not be written
	Now  func() time.Time
	// Undone receives the files that were written against the rule.
	Undone func(files []string)
}

// OpenWriteLayer returns the directory of a layer that commands write to, and a function that copies its
// changes.
func (k CommandWriteGuard) OpenWriteLayer(ctx context.Context) (dir string, undo func(context.Context) ([]string, error), err error) {
	dir, back, err := k.prepareWriteLayer(ctx)
	return dir, func(ctx context.Context) ([]string, error) {
		files, err := back(ctx)
		k.Undone(files)
		return files, err
	}, err
}

// WatchProtected returns a function that undoes changes of what no agent may write, whatever program
// wrote it: the configuration of agents, editors and Nexus, and each .nexusignore of a tree that
// must have none. It compares them with their state now, so that it is cheap if none changed.
//
// Files that git tracks are watched even if it ignores them: their changes would land.
func (k CommandWriteGuard) WatchProtected(ctx context.Context) (undo func(context.Context) ([]string, error), err error) {
	tracked, err := k.trackedProtectedFiles(ctx)
	if err != nil {
		return nil, err
	}
	known, err := k.protectedFiles(tracked)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) ([]string, error) {
		now, err := k.protectedFiles(tracked)
		if err != nil || maps.Equal(now, known) {
			return nil, err
		}
		undone, err := k.undoUntilClean(ctx)
		k.Undone(undone)
		if err != nil {
			return undone, err // the next call undoes what remains
		}
		if now, lost := k.protectedFiles(tracked); lost == nil {
			known = now // what remains changed is ignored by git and not tracked, and does not land
		}
		return undone, nil
	}, nil
}

// isProtected reports whether no agent may write a file, whatever its role.
func isProtected(name string) bool {
	return path.Base(name) == files.IgnoreFile || ProtectedFileReason(name) != nil
}

// trackedProtectedFiles returns the protected files of the tree's last snapshot.
func (k CommandWriteGuard) trackedProtectedFiles(ctx context.Context) ([]string, error) {
	out, err := k.Git.Run(ctx, "ls-tree", "-r", "-z", "--name-only", "--full-tree", k.Base())
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(strings.Split(out, "\x00"), func(name string) bool { return name == "" || !isProtected(name) }), nil
}

// protectedFiles returns the protected files of the tree that git does not ignore, and the tracked ones,
// each with its content.
func (k CommandWriteGuard) protectedFiles(tracked []string) (map[string]string, error) {
	root, err := os.OpenRoot(k.Tree.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	found := map[string]string{}
	for _, name := range tracked {
		found[name] = fileFingerprint(root, name)
	}
	none := files.HiddenPathRules{Kept: &ignore.IgnoreSet{}} // they hide nothing from this search
	err = none.WalkUnignored(root, ".", func(name string, d fs.DirEntry) bool {
		if !d.IsDir() && isProtected(name) {
			found[name] = fileFingerprint(root, name)
		}
		return true
	})
	return found, err
}

// fileFingerprint returns a text that differs if a file does.
func fileFingerprint(root *os.Root, name string) string {
	info, err := root.Lstat(name)
	if err != nil {
		return err.Error()
	}
	if to, err := root.Readlink(name); err == nil {
		return "link " + to
	}
	text := fmt.Sprint(info.Mode(), info.Size())
	if !info.Mode().IsRegular() {
		return text
	}
	f, err := root.Open(name)
	if err != nil {
		return text + err.Error()
	}
	defer func() { _ = f.Close() }()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return text + err.Error()
	}
	return fmt.Sprintf("%s %x", text, sum.Sum(nil))
}

// UndoForbidden undoes changes of the tree itself against the rule.
func (k CommandWriteGuard) UndoForbidden(ctx context.Context) error {
	files, err := k.undoUntilClean(ctx)
	k.Undone(files)
	return err
}

// prepareWriteLayer returns the directory of a layer for the commands of a role that may not write all of
// the tree, and a function that copies its changes. If the sandbox has no layers, the
// directory is empty: commands write to the tree, and changes against the rule are undone.
func (k CommandWriteGuard) prepareWriteLayer(ctx context.Context) (dir string, undo func(context.Context) ([]string, error), err error) {
	dir = filepath.Join(filepath.Dir(k.Tree.Dir), "over")
	for _, d := range []string{dir, dir + jobsSuffix} {
		if err := os.RemoveAll(d); err != nil { // the layer of an earlier session
			return "", nil, err
		}
		if err := sandbox.MakeLayerDirs(d); err != nil {
			return "", nil, err
		}
	}
	if !k.Box.SupportsWriteOverlay(ctx, k.Tree.Dir, dir) {
		return "", k.undoUntilClean, errors.Join(os.RemoveAll(dir), os.RemoveAll(dir+jobsSuffix))
	}
	var last time.Time
	return dir, func(ctx context.Context) ([]string, error) {
		began := k.Now()
		files, err := k.takeAllowedChanges(ctx, dir, last)
		last = began
		return files, err
	}, nil
}

// LentPaths returns the files that were lent to the tree, such as installed packages, for commands
// that write to a layer over it, which would hide them: they are already the tree's own.
// Without a layer the result is empty.
func (k CommandWriteGuard) LentPaths(over string) []string {
	if over == "" {
		return nil
	}
	var all []string
	for _, lent := range worktree.ExternalPaths(k.Tree.Dir) {
		all = append(all, filepath.Join(k.Tree.Dir, filepath.FromSlash(lent)))
	}
	return all
}

// takeAllowedChanges copies the allowed changes of commands into the tree, and returns the others: ignored
// files stay in the layer, for the next command.
func (k CommandWriteGuard) takeAllowedChanges(ctx context.Context, dir string, last time.Time) ([]string, error) {
	root, err := os.OpenRoot(k.Tree.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	may := func(name string) bool { return k.Rule(name) == nil }
	jobs := sandbox.OverlayLayer{Dir: dir + jobsSuffix, Tree: root}
	beside, err := jobs.ApplyChanges(last, may) // it may be in use: nothing is cleared
	if err != nil {
		return nil, err
	}
	l := sandbox.OverlayLayer{Dir: dir, Tree: root}
	left, err := l.ApplyChanges(time.Time{}, may)
	if err != nil {
		return nil, err
	}
	left = append(left, beside...)
	if len(left) == 0 {
		return nil, l.RemoveExcept(nil)
	}
	ignored, err := k.Tree.IgnoredPaths(ctx, left)
	if err != nil {
		return nil, err
	}
	keep := slices.DeleteFunc(slices.Clone(left), func(f string) bool { return !ignored[f] })
	left = slices.DeleteFunc(left, func(f string) bool { return ignored[f] })
	slices.Sort(left)
	return slices.Compact(left), l.RemoveExcept(keep)
}

// undoUntilClean undoes changes against the rule until there are none: the files that define the rule
// may be among the restored ones.
func (k CommandWriteGuard) undoUntilClean(ctx context.Context) ([]string, error) {
	var all []string
	for range 3 {
		files, err := k.undoForbiddenChanges(ctx)
		if err != nil || len(files) == 0 {
			return all, err
		}
		all = append(all, files...)
	}
	return all, nil
}

// undoForbiddenChanges undoes a role's changes against its rule since the tree's last snapshot, and returns
// the files. Allowed changes stay.
func (k CommandWriteGuard) undoForbiddenChanges(ctx context.Context) ([]string, error) {
	base := k.Base()
	commit, tree, err := k.Tree.Snapshot(ctx, fmt.Sprintf("snapshot of %s", k.Tree.ID))
	if err != nil {
		return nil, err
	}
	changed, err := k.Tree.ChangedFiles(ctx, base, commit)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, c := range changed {
		if k.Rule(c.Path) != nil {
			files = append(files, c.Path)
		}
	}
	if len(files) == 0 {
		return nil, nil
	}
	clean, err := k.Git.TreeWithoutChanges(ctx, filepath.Dir(k.Tree.Dir), tree, base, files)
	if err != nil {
		return nil, fmt.Errorf("take back changes: %w", err)
	}
	return files, k.Tree.Restore(ctx, clean)
}
