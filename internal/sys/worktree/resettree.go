package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
)

// Reset resets the files to those of a tree, if they differ. Ignored files remain.
func (t *AttemptTree) Reset(ctx context.Context, tree string) error {
	_, now, err := t.Snapshot(ctx, "nexus: before a reset")
	if err != nil || now == tree {
		return err
	}
	return t.Restore(ctx, tree)
}

// ResetExactly resets the files to exactly those of a tree: ignored files are deleted, too, and so
// is everything else that a checkout of the tree does not have. It cannot be undone.
func (t *AttemptTree) ResetExactly(ctx context.Context, tree string) error {
	t.mu.Lock()
	t.known.Forget() // so that every name is scanned
	t.mu.Unlock()
	if err := t.Reset(ctx, tree); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	look, err := t.newTreeSurvey()
	if err == nil {
		err = filewrite.WrapError("remove what is not of the tree", look.removeUntracked(&t.known))
	}
	return errors.Join(err, t.linkAgentGit())
}

// DropTree removes the tree of an attempt, if there is one, like [AttemptTree.Remove].
func (s *Store) DropTree(ctx context.Context, run nexus.RunID, id nexus.AttemptID) error {
	t, err := s.newTree(run, id)
	if err != nil {
		return err
	}
	if _, err := os.Stat(t.home); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err := t.adoptExisting(ctx); err != nil {
		return err
	}
	return t.Remove(ctx)
}
