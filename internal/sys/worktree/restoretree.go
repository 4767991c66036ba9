package worktree

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// Restore makes the files exactly those of a commit or tree. Files that the tree's rules ignore
// remain, unless they are in the way. The earlier state is pinned; the restored state becomes the
// last snapshot.
func (t *AttemptTree) Restore(ctx context.Context, rev string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	tree, err := t.s.git.TreeID(ctx, rev)
	if err != nil {
		return err
	}
	// The restored ignore rules may include files that were ignored before, so this is repeated
	// until there is nothing left to do.
	for range maxRestoreTries {
		if err := t.snapshotForRestore(ctx); err != nil {
			return err
		}
		if t.tree == tree {
			return t.linkAgentGit()
		}
		changes, stats, now, err := t.applyDiff(ctx, t.Dir, t.tree, tree)
		if err != nil {
			return err
		}
		if err := t.commitOnLastSnapshot(ctx, tree, "nexus: restored "+rev); err != nil {
			return err
		}
		if err := t.recordChanges(changes, stats, now); err != nil {
			return err
		}
	}
	return &nexus.Error{
		Code: nexus.CodeStorage, Message: "the files do not become those of " + rev,
		Hint: "Make sure that nothing else writes in the worktree.",
	}
}

// maxRestoreTries limits the repetitions of a restore.
const maxRestoreTries = 5

// snapshotForRestore makes a last snapshot. It removes files that git cannot store, because they
// are in no commit.
func (t *AttemptTree) snapshotForRestore(ctx context.Context) error {
	t.known.Forget() // so that every name is scanned
	found, err := t.findChanges(ctx)
	if err != nil {
		return err
	}
	root, err := os.OpenRoot(t.Dir)
	if err != nil {
		return filewrite.WrapError("restore the files", err)
	}
	defer root.Close() //nolint:errcheck // nothing is written through it
	refused := func(p string) bool {
		info, err := root.Lstat(p)
		link := err == nil && info.Mode().Type() == fs.ModeSymlink
		return git.CheckPath(p, 0) != nil || link && git.CheckPath(p, git.ModeLink) != nil
	}
	for _, p := range found.Changed {
		if refused(p) {
			found.Odd = append(found.Odd, p)
		}
	}
	for _, p := range found.Odd { // removed files are not stored
		if err := clearFile(root, p); err != nil {
			return err
		}
	}
	_, _, err = t.commitChanges(ctx, "nexus: before a restore", found)
	return err
}

// linkAgentGit restores the link to the agent's git directory, whatever is in its place.
func (t *AttemptTree) linkAgentGit() error {
	name := filepath.Join(t.Dir, ".git")
	if err := filewrite.RemoveAll(name); err != nil {
		return filewrite.WrapError("restore the files", err)
	}
	return filewrite.WriteFile(name, []byte(gitFileText))
}

// applyDiff changes the files in dir from those of one tree to those of another. It returns the
// changes, an index of the written files, and the time.
func (t *AttemptTree) applyDiff(ctx context.Context, dir, from, to string) ([]ChangedTreeFile, git.Index, int64, error) {
	changes, err := t.s.git.ChangedFiles(ctx, from, to)
	if err != nil {
		return nil, nil, 0, err
	}
	want, err := removeChangedFiles(dir, changes)
	if err != nil {
		return nil, nil, 0, err
	}
	var got git.Index
	if len(want) > 0 {
		if got, err = t.writeFilesWithGit(ctx, dir, want); err != nil {
			return nil, nil, 0, err
		}
	}
	now, err := fileClock(filepath.Join(filepath.Dir(dir), "clock"))
	return changes, got, now, filewrite.WrapError("restore the files", err)
}

// removeChangedFiles removes the files that the changes delete or replace, and returns the files to write.
func removeChangedFiles(dir string, changes []ChangedTreeFile) (git.Index, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, filewrite.WrapError("restore the files", err)
	}
	defer root.Close() //nolint:errcheck // nothing is written through it
	var want git.Index
	for _, c := range changes {
		if c.Status != "M" {
			if err := clearFile(root, c.Path); err != nil {
				return nil, err
			}
		}
		mode, err1 := c.ModeBits()
		raw, err2 := hex.DecodeString(c.ID)
		if err := errors.Join(err1, err2); err != nil {
			return nil, err
		}
		if mode != 0 {
			want = append(want, git.IndexEntry{Path: c.Path, Mode: mode, Raw: string(raw)})
		}
	}
	return want, nil
}

// writeFilesWithGit writes files with git, as their attributes require.
func (t *AttemptTree) writeFilesWithGit(ctx context.Context, dir string, want git.Index) (git.Index, error) {
	sortByPath(want)
	r := t.s.git
	r.Work, r.Index = dir, filepath.Join(filepath.Dir(dir), "mini")
	data, err := want.Encode(t.s.objects.IDSize())
	if err != nil {
		return nil, err
	}
	if err := filewrite.WriteFile(r.Index, data); err != nil {
		return nil, err
	}
	if _, err := r.Run(ctx, "checkout-index", "-a", "-f", "-u", "-q"); err != nil {
		return nil, err
	}
	if err := PlaceLFSContent(ctx, r, t.s.objects.IDSize()); err != nil {
		return nil, err
	}
	if data, err = os.ReadFile(r.Index); err != nil {
		return nil, filewrite.WrapError("restore the files", err)
	}
	return git.ParseIndex(data, t.s.objects.IDSize())
}

// clearFile removes a file, and the directories that are empty without it, including those with
// nothing but the .git of a repository.
func clearFile(root *os.Root, p string) error {
	err := root.Remove(p)
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !isDir(root, p) {
		return filewrite.WrapError("restore the files", err)
	}
	for d := path.Dir(p); d != "."; d = path.Dir(d) {
		if containsOnly(root, d, ".git") {
			if err := root.RemoveAll(path.Join(d, ".git")); err != nil {
				return filewrite.WrapError("restore the files", err)
			}
		}
		if !removeEmptyDir(root, d) {
			break
		}
	}
	return nil
}

func removeEmptyDir(root *os.Root, empty string) bool { return root.Remove(empty) == nil }

func isDir(root *os.Root, p string) bool {
	info, err := root.Lstat(p)
	return err == nil && info.IsDir()
}

// containsOnly reports whether a directory has exactly one entry, with this name.
func containsOnly(root *os.Root, dir, name string) bool {
	f, err := root.Open(dir)
	if err != nil {
		return false
	}
	defer f.Close() //nolint:errcheck // only read
	names, err := f.Readdirnames(2)
	return err == nil && len(names) == 1 && names[0] == name
}
