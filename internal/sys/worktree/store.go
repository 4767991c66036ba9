// Package worktree gives every attempt a tree of its own, stores its changes as commits, and
// copies finished commits to the user's repository.
//
// All of it uses a private bare clone beside the trees:
//
//	<dir>/repo.git                     objects, refs/nexus/..., refs/heads/nexus/...
//	<dir>/trees/<run>/<attempt>/tree   the files, for the agent to change
//	<dir>/trees/<run>/<attempt>/git    a git directory for the agent's own git
//	<dir>/trees/<run>/<attempt>/tmp    scratch space
//	<dir>/lower/<tree>                 shared files below overlays
//	<dir>/lfs/objects                  LFS content from agents
//	<dir>/shown/<rules>                objects that agents may see, if some are hidden
//	<dir>/trash                        directories being deleted
//
// The files in a tree are untrusted. Git is never run in a way that reads a .git of the tree; the
// agent's git directory is written here once and never read again.
package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree/overlay"
)

// ChangedTreeFile is one file that differs between two commits.
type ChangedTreeFile = git.ChangedTreeFile

// MergeResult is the result of a merge.
type MergeResult = git.MergeResult

// Store has the private clone of one repository with the trees made from it. It may be used by
// many goroutines and processes at once.
type Store struct {
	*git.PrivateClone
	Now func() time.Time // time for the dates of snapshots; nil counts seconds from the base
	Way TreeFillMethod   // method of creating files; zero is the fastest possible one

	Hides HiddenFileRules // files that agents' own git does not show; zero shows all

	dir       string // absolute, without links
	git       git.Repo
	objects   *git.ObjectStore
	checkouts *overlayBaseCheckouts

	probing sync.Once // sets probed
	probed  TreeFillMethod

	mu     sync.Mutex           // guards mounts and runs
	mounts map[string]bool      // directories with mounts that this process uses
	runs   map[nexus.RunID]bool // runs with trees made by this process

	deleting sync.WaitGroup // running deletions
}

// OpenStore creates the private clone of user under dir, or updates it to the commit that is checked
// out there.
func OpenStore(ctx context.Context, user git.Repo, dir string) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err = os.MkdirAll(filepath.Join(dir, "trees"), 0o700); err == nil {
		dir, err = filepath.EvalSymlinks(dir)
	}
	if err != nil {
		return nil, filewrite.WrapError("make the state directory", err)
	}
	c, err := git.OpenClone(ctx, user, dir)
	if err != nil {
		return nil, err
	}
	s := &Store{PrivateClone: c, dir: dir, git: c.PrivateRepo(), objects: c.Objects()}
	s.checkouts = &overlayBaseCheckouts{Dir: filepath.Join(dir, "lower"), Repo: s.git, Size: s.objects.IDSize()}
	return s, nil
}

// Close unmounts the trees that this process used, and waits until removed directories are
// deleted. A tree survives that: [Store.AddTree] mounts it again.
func (s *Store) Close() error {
	s.deleting.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs error
	for dir := range s.mounts {
		errs = errors.Join(errs, filewrite.WrapError("unmount a worktree", overlay.UnmountAll(dir))) // including installed dependencies
	}
	s.mounts = nil
	for run := range s.runs {
		_ = os.Remove(filepath.Join(s.dir, "trees", string(run))) // only if it is empty
	}
	return errors.Join(errs, s.PrivateClone.Close())
}

// recordMount records that this process uses the mounts below a directory.
func (s *Store) recordMount(dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mounts == nil {
		s.mounts = map[string]bool{}
	}
	s.mounts[dir] = true
}

// fillMethod returns the method of creating files.
func (s *Store) fillMethod() TreeFillMethod {
	if s.Way != FillAny {
		return s.Way
	}
	s.probing.Do(func() {
		s.probed = FillPlain
		if dir, err := os.MkdirTemp(s.dir, ".probe-"); err == nil && overlay.ProbeOverlay(dir) == nil {
			s.probed = FillOverlay
		}
	})
	return s.probed
}

// treesLockPath returns the lock that is shared while a tree is made, and exclusive during a sweep.
func (s *Store) treesLockPath() string { return filepath.Join(s.dir, treesLockFile) }

const treesLockFile = "trees.lock"

// withTreeLock runs do while no sweep runs and nobody else makes the same tree.
func (s *Store) withTreeLock(ctx context.Context, run nexus.RunID, id nexus.AttemptID, do func(context.Context) error) error {
	s.mu.Lock()
	if s.runs == nil {
		s.runs = map[nexus.RunID]bool{}
	}
	s.runs[run] = true
	s.mu.Unlock()
	mine := filepath.Join(s.dir, "locks", string(run)+","+string(id))
	return filewrite.WithSharedLock(ctx, s.treesLockPath(), func(ctx context.Context) error { return filewrite.WithLock(ctx, mine, do) })
}

// moveToTrash unmounts everything below dir, moves dir to the trash, and deletes it in the background.
func (s *Store) moveToTrash(dir string) error {
	if err := overlay.UnmountAll(dir); err != nil {
		return filewrite.WrapError("remove a worktree", err)
	}
	trash := filepath.Join(s.dir, "trash")
	if filepath.Dir(dir) == trash { // leftover of a killed process
		s.deleting.Go(func() { _ = filewrite.RemoveAll(dir) })
		return nil
	}
	to, err := "", os.MkdirAll(trash, 0o700)
	if err == nil {
		to, err = os.MkdirTemp(trash, "tree-")
	}
	if err == nil {
		err = os.Rename(dir, filepath.Join(to, "gone"))
	}
	if err != nil {
		_ = os.Remove(to) // it is empty
		return filewrite.WrapError("remove a worktree", err)
	}
	s.deleting.Go(func() { _ = filewrite.RemoveAll(to) }) // leftovers are removed by a sweep
	return nil
}
