package attempt

import (
	"cmp"
	"context"
	"fmt"
	"path/filepath"
)

// undoAll takes back what is against a rule until nothing is: the files that
// make up the rule may be among what was taken back.
func (s *Shop) undoAll(ctx context.Context, t Talk, rule func(string) error) ([]string, error) {
	var all []string
	for range 3 {
		files, err := s.undo(ctx, t, rule)
		if err != nil || len(files) == 0 {
			return all, err
		}
		all = append(all, files...)
	}
	return all, nil
}

// undo takes back what a role changed against its rule since the tree was
// pinned last, and returns which files that were. What it may write stays.
func (s *Shop) undo(ctx context.Context, t Talk, rule func(string) error) ([]string, error) {
	base := cmp.Or(t.Attempt.Snapshot.Commit, t.Attempt.Start, t.Attempt.Base)
	commit, tree, err := t.Tree.Snapshot(ctx, fmt.Sprintf("snapshot of %s", t.Attempt.ID))
	if err != nil {
		return nil, err
	}
	changed, err := t.Tree.Changed(ctx, base, commit)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, c := range changed {
		if rule(c.Path) != nil {
			files = append(files, c.Path)
		}
	}
	if len(files) == 0 {
		return nil, nil
	}
	clean, err := s.Trees.Git().Without(ctx, filepath.Dir(t.Tree.Dir), tree, base, files)
	if err != nil {
		return nil, fmt.Errorf("take back changes: %w", err)
	}
	return files, t.Tree.Restore(ctx, clean)
}
