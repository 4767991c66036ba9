package worktree

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Reset makes the files those of a tree again, if they are not. Ignored files
// stay.
func (t *Tree) Reset(ctx context.Context, tree string) error {
	_, now, err := t.Snapshot(ctx, "nexus: before a reset")
	if err != nil || now == tree {
		return err
	}
	return t.Restore(ctx, tree)
}

// Drop removes the tree of an attempt, if there is one, as [Tree.Remove] does.
func (s *Store) Drop(ctx context.Context, run nexus.RunID, id nexus.AttemptID) error {
	t, err := s.name(run, id)
	if err != nil {
		return err
	}
	if _, err := os.Stat(t.home); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := t.adopt(ctx); err != nil {
		return err
	}
	return t.Remove(ctx)
}

// Lines returns how many lines a file of the tree has, and -1 for what is no
// regular file within it.
func (t *Tree) Lines(file string) int {
	data, err := t.content(file)
	if err != nil {
		return -1
	}
	n := bytes.Count(data, []byte("\n"))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// Marked reports whether a file of the tree still has the marks of a conflict.
func (t *Tree) Marked(file string) bool {
	data, err := t.content(file)
	if err != nil {
		return false
	}
	for _, mark := range []string{"<<<<<<< ", ">>>>>>> "} {
		if bytes.HasPrefix(data, []byte(mark)) || bytes.Contains(data, []byte("\n"+mark)) {
			return true
		}
	}
	return false
}

// maxFile is how much of a file is read to look at it.
const maxFile = 32 << 20

// content reads a regular file of the tree and follows no link out of it.
func (t *Tree) content(file string) ([]byte, error) {
	root, err := os.OpenRoot(t.Dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // it was only read
	info, err := root.Lstat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, fs.ErrInvalid
	}
	return root.ReadFile(file)
}
