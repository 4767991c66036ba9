package worktree

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Sweep removes the trees that keep does not want, after pinning what they
// hold, and deletes what earlier removals left. It returns the directories
// that it removed, or would remove if dry. Refs stay.
func (s *Store) Sweep(ctx context.Context, keep func(nexus.RunID, nexus.AttemptID) bool, dry bool) ([]string, error) {
	var gone []string
	err := s.locked(ctx, func(ctx context.Context) error {
		homes, err := filepath.Glob(filepath.Join(s.dir, "trees", "*", "*"))
		if err != nil {
			return err
		}
		for _, home := range homes {
			run, id := nexus.RunID(filepath.Base(filepath.Dir(home))), nexus.AttemptID(filepath.Base(home))
			if keep(run, id) {
				continue
			}
			gone = append(gone, home)
			if dry {
				continue
			}
			if err := s.sweepTree(ctx, run, id); err != nil {
				return err
			}
		}
		left, err := s.empty(dry)
		gone = append(gone, left...)
		return err
	})
	slices.Sort(gone)
	return gone, err
}

// empty deletes what is in the trash and says what there was.
func (s *Store) empty(dry bool) ([]string, error) {
	left, err := filepath.Glob(filepath.Join(s.dir, "trash", "*"))
	if err != nil || dry {
		return left, err
	}
	for _, dir := range left {
		if err := os.RemoveAll(dir); err != nil {
			return left, storage("empty the trash", err)
		}
	}
	return left, nil
}

func (s *Store) sweepTree(ctx context.Context, run nexus.RunID, id nexus.AttemptID) error {
	t, err := s.name(run, id)
	if err != nil { // a half-made one
		return s.discard(filepath.Join(s.dir, "trees", string(run), string(id)))
	}
	if err := t.adopt(ctx); err != nil {
		return err
	}
	return t.Remove(ctx)
}
