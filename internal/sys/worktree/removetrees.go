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
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
)

// Remove pins the current files and moves the tree to the trash. It is deleted in the background;
// see [Store.Close].
func (t *AttemptTree) Remove(ctx context.Context) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, err := os.Stat(t.home); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if _, _, err := t.snapshot(ctx, "nexus: before removal"); err != nil {
		return err
	}
	return t.s.moveToTrash(t.home)
}

// RemoveTrees removes the trees for which keep returns false, after pinning their files, and all
// leftovers of killed processes: unfinished trees, mounts, trash, unused shared files. It returns
// the directories that it removed, or would remove if dry. Refs remain. A tree that cannot be
// pinned remains too, and the error names it.
func (s *Store) RemoveTrees(ctx context.Context, keep func(nexus.RunID, nexus.AttemptID) bool, dry bool) ([]string, error) {
	var gone []string
	err := filewrite.WithLock(ctx, s.treesLockPath(), func(ctx context.Context) error {
		var errs error
		for _, sweep := range []func(context.Context) ([]string, error){
			func(context.Context) ([]string, error) {
				return s.removeLeftovers(dry, "trash/*", ".probe-*", ".attributes-*")
			}, // before there is new trash
			func(ctx context.Context) ([]string, error) { return s.sweepTrees(ctx, keep, dry) },
			func(context.Context) ([]string, error) { return s.removeUnusedSharedFiles(dry) },
			func(context.Context) ([]string, error) { return s.sweepUnusedObjects(dry) },
			func(context.Context) ([]string, error) { return s.removeLeftovers(dry, "locks/*") },
			func(context.Context) ([]string, error) { return s.removeEmptyRunDirs(dry), nil },
		} {
			dirs, err := sweep(ctx)
			gone, errs = append(gone, dirs...), errors.Join(errs, err)
		}
		return errs
	})
	slices.Sort(gone)
	return gone, err
}

// InheritRun cleans up after a killed process that had a run, which only the caller holds now:
// unfinished trees and probes are removed immediately, and the mounts of the others by
// [Store.Close], whether they were added by this process or not.
func (s *Store) InheritRun(ctx context.Context, run nexus.RunID) error {
	dir := filepath.Join(s.dir, "trees", string(run))
	s.recordMount(dir)
	half := append(globIn(dir, newPrefix+"*"), globIn(s.dir, ".probe-*")...)
	if len(half) == 0 {
		return nil
	}
	return filewrite.WithLock(ctx, s.treesLockPath(), func(context.Context) (errs error) { // so that no running process uses them
		for _, h := range half {
			if err := s.moveToTrash(h); !errors.Is(err, fs.ErrNotExist) { // removed, or completed, meanwhile
				errs = errors.Join(errs, err)
			}
		}
		return errs
	})
}

func (s *Store) sweepTrees(ctx context.Context, keep func(nexus.RunID, nexus.AttemptID) bool, dry bool) ([]string, error) {
	var gone []string
	var err error
	for _, home := range globIn(s.dir, "trees/*/*") {
		run, id := nexus.RunID(filepath.Base(filepath.Dir(home))), nexus.AttemptID(filepath.Base(home))
		half := strings.HasPrefix(string(id), newPrefix)
		if !half && keep(run, id) {
			continue
		}
		if !dry {
			var failed error
			if half {
				failed = s.moveToTrash(home)
			} else {
				failed = s.DropTree(ctx, run, id)
			}
			if _, there := os.Lstat(home); failed != nil && there == nil {
				err = errors.Join(err, failed)
				continue
			}
			_ = os.Remove(filepath.Dir(home)) // the run's directory, if this was its last tree
		}
		gone = append(gone, home)
	}
	return gone, err
}

// removeUnusedSharedFiles removes the shared files without a mounted tree, except for the newest.
func (s *Store) removeUnusedSharedFiles(dry bool) ([]string, error) {
	all, err := s.checkouts.listTrees()
	if err != nil || len(all) == 0 {
		return nil, err
	}
	used := map[string]bool{all[0]: true}
	for _, n := range globIn(s.dir, "trees/*/*/tree.json") {
		t := &AttemptTree{home: filepath.Dir(n)}
		n, err := t.readNote()
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // removed meanwhile
			return nil, err
		}
		used[n.Tree] = true
	}
	var gone []string
	for _, l := range all {
		dir := s.checkouts.checkoutPath(l, "")
		if used[l] {
			continue
		}
		if !dry {
			s.checkouts.forgetTree(l)
			if err := s.moveToTrash(dir); err != nil {
				return gone, err
			}
		}
		gone = append(gone, dir)
	}
	return gone, nil
}

// removeEmptyRunDirs removes the directories of runs without trees.
func (s *Store) removeEmptyRunDirs(dry bool) []string {
	var gone []string
	for _, run := range globIn(s.dir, "trees/*") {
		entries, err := os.ReadDir(run)
		if err != nil || len(entries) > 0 {
			continue
		}
		if dry || os.Remove(run) == nil {
			gone = append(gone, run)
		}
	}
	return gone
}

// removeLeftovers removes leftovers without an owner: trash, probes, unused locks.
func (s *Store) removeLeftovers(dry bool, patterns ...string) ([]string, error) {
	var gone []string
	for _, pattern := range patterns {
		for _, name := range globIn(s.dir, pattern) {
			if !dry {
				if err := s.moveToTrash(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return gone, err
				}
			}
			gone = append(gone, name)
		}
	}
	return gone, nil
}

// globIn returns the paths in a directory, taken literally, whose names match a pattern.
func globIn(dir, pattern string) []string {
	dir = strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
	all, _ := filepath.Glob(filepath.Join(dir, pattern)) // fails only for an invalid pattern
	return all
}
