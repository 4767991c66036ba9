package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
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

// ResetExactly makes the files those of a tree and nothing else: what is ignored
// goes, and all else that no checkout of it has. Nothing of it comes back.
func (t *Tree) ResetExactly(ctx context.Context, tree string) error {
	t.mu.Lock()
	t.known.Forget() // every name counts
	t.mu.Unlock()
	if err := t.Reset(ctx, tree); err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	look, err := t.newSurvey()
	if err == nil {
		err = disk.WrapError("remove what is not of the tree", look.strip(&t.known))
	}
	return errors.Join(err, t.linkAgentGit())
}

// Drop removes the tree of an attempt, if there is one, as [Tree.Remove] does.
func (s *Store) Drop(ctx context.Context, run nexus.RunID, id nexus.AttemptID) error {
	t, err := s.newTree(run, id)
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
