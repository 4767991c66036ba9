package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
)

// Remove pins the files as they are and puts them out of the way. They are
// deleted in the background; see [Store.Close].
func (t *Tree) Remove(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := os.Stat(t.home); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, _, err := t.snapshot(ctx, "nexus: before removal", nil); err != nil {
		return err
	}
	return t.s.discard(t.home)
}

// Sweep removes the trees that keep does not want, after pinning what they
// hold, and everything that killed processes left: half-made trees, mounts,
// trash, shared files that nothing stands on. It returns the directories that
// it removed, or would remove if dry. Refs stay. A tree that cannot be pinned
// stays too, and is named by the error.
func (s *Store) Sweep(ctx context.Context, keep func(nexus.RunID, nexus.AttemptID) bool, dry bool) ([]string, error) {
	var gone []string
	err := disk.Lock(ctx, s.treesLock(), func(ctx context.Context) error {
		var errs error
		for _, sweep := range []func(context.Context) ([]string, error){
			func(ctx context.Context) ([]string, error) { return s.sweepTrees(ctx, keep, dry) },
			func(context.Context) ([]string, error) { return s.sweepLower(dry) },
			func(context.Context) ([]string, error) { return s.sweepRest(dry) },
		} {
			dirs, err := sweep(ctx)
			gone, errs = append(gone, dirs...), errors.Join(errs, err)
		}
		return errs
	})
	slices.Sort(gone)
	return gone, err
}

func (s *Store) sweepTrees(ctx context.Context, keep func(nexus.RunID, nexus.AttemptID) bool, dry bool) ([]string, error) {
	homes, err := filepath.Glob(filepath.Join(escape(s.dir), "trees", "*", "*"))
	if err != nil {
		return nil, err
	}
	var gone []string
	for _, home := range homes {
		run, id := nexus.RunID(filepath.Base(filepath.Dir(home))), nexus.AttemptID(filepath.Base(home))
		half := strings.HasPrefix(string(id), newPrefix)
		if !half && keep(run, id) {
			continue
		}
		if !dry {
			var failed error
			if half {
				failed = s.discard(home)
			} else {
				failed = s.sweepTree(ctx, run, id)
			}
			if _, there := os.Lstat(home); failed != nil && there == nil {
				err = errors.Join(err, failed)
				continue
			}
			_ = os.Remove(filepath.Dir(home)) // the run's directory, if this was its last
		}
		gone = append(gone, home)
	}
	return gone, err
}

func (s *Store) sweepTree(ctx context.Context, run nexus.RunID, id nexus.AttemptID) error {
	t, err := s.name(run, id)
	if err != nil {
		return err
	}
	if err := t.adopt(ctx); err != nil {
		return err
	}
	return t.Remove(ctx)
}

// sweepLower removes shared files that no tree is mounted over, except for
// the newest.
func (s *Store) sweepLower(dry bool) ([]string, error) {
	all, err := s.shelf.All()
	if err != nil || len(all) == 0 {
		return nil, err
	}
	used := map[string]bool{all[0]: true}
	notes, err := filepath.Glob(filepath.Join(escape(s.dir), "trees", "*", "*", "tree.json"))
	if err != nil {
		return nil, err
	}
	for _, n := range notes {
		t := &Tree{home: filepath.Dir(n)}
		n, err := t.read()
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // removed meanwhile
			return nil, err
		}
		used[n.Tree] = true
	}
	var gone []string
	for _, l := range all {
		dir := s.shelf.Path(l, "")
		if used[l] {
			continue
		}
		gone = append(gone, dir)
		if dry {
			continue
		}
		s.shelf.Drop(l)
		if err := s.discard(dir); err != nil {
			return gone, err
		}
	}
	return gone, nil
}

// sweepRest removes what is nobody's: trash, probes, locks that nobody holds.
func (s *Store) sweepRest(dry bool) ([]string, error) {
	var gone []string
	for _, pattern := range []string{"trash/*", ".probe-*", ".attributes-*", "locks/*"} {
		left, err := filepath.Glob(filepath.Join(escape(s.dir), pattern))
		if err != nil {
			return gone, err
		}
		for _, name := range left {
			if dry {
				gone = append(gone, name)
				continue
			}
			if err := s.discard(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return gone, err
			}
			gone = append(gone, name)
		}
	}
	return gone, nil
}

// escape makes a directory stand for itself in a pattern.
func escape(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}
