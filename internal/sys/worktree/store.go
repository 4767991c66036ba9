// Package worktree gives every attempt a tree of its own, keeps each change
// of it as a commit, and carries finished commits back.
//
// All of it happens in a private bare clone beside the trees:
//
//	<dir>/repo.git                     objects, refs/nexus/..., refs/heads/nexus/...
//	<dir>/trees/<run>/<attempt>/tree   the files, for the agent to change
//	<dir>/trees/<run>/<attempt>/git    a git directory for the agent's own git
//	<dir>/trees/<run>/<attempt>/tmp    scratch space
//	<dir>/trash                        what is being deleted
//
// What is in a tree was written by somebody else. Git is never run so that it
// would look into a .git of the tree; the agent's git directory is written
// here once and never read again.
package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// Store is the private clone of one repository with the trees made from it.
// It may be used from many goroutines, and from many processes at once.
type Store struct {
	Who git.Identity     // who commits are by; zero is Nexus
	Now func() time.Time // dates of snapshots; nil counts seconds from the base

	dir  string   // absolute
	user git.Repo // the user's repository
	git  git.Repo // the private clone
	zero string   // the object name that means "no object"

	deleting sync.WaitGroup // removals going on
}

// lockPoll is how often a lock that somebody else holds is tried again.
const lockPoll = 5 * time.Millisecond

// Open makes the private clone of user under dir, or brings it up to date
// with what is checked out there.
func Open(ctx context.Context, user git.Repo, dir string) (*Store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Join(dir, "trees"), 0o700); err != nil {
		return nil, storage("make the state directory", err)
	}
	s := &Store{dir: dir, user: user, git: git.Repo{Dir: filepath.Join(dir, "repo.git")}}
	if err := s.locked(ctx, s.clone); err != nil {
		return nil, err
	}
	format, err := s.git.Line(ctx, "rev-parse", "--show-object-format")
	if err != nil {
		return nil, err
	}
	s.zero = strings.Repeat("0", 40)
	if format == "sha256" {
		s.zero = strings.Repeat("0", 64)
	}
	if _, err := s.Fetch(ctx, "HEAD"); err != nil {
		return nil, err
	}
	return s, nil
}

// Git returns the private clone.
func (s *Store) Git() git.Repo { return s.git }

// Close waits until what was removed is deleted.
func (s *Store) Close() error {
	s.deleting.Wait()
	return nil
}

// Fetch brings a commit of the user's repository in, with all it stands on.
func (s *Store) Fetch(ctx context.Context, rev string) (string, error) {
	commit, err := s.user.Resolve(ctx, rev)
	if err != nil {
		return "", err
	}
	ref := "refs/user/" + commit
	if _, err := s.git.Resolve(ctx, ref); err == nil {
		return commit, nil
	}
	from, err := s.user.Common(ctx)
	if err != nil {
		return "", err
	}
	if err := bring(ctx, s.git, from, commit, ref); err != nil {
		return "", err
	}
	return commit, nil
}

// bring fetches a commit into r from the git directory from, and gives it a
// name there if ref is not empty. It moves no other ref.
func bring(ctx context.Context, r git.Repo, from, commit, ref string) error {
	spec := commit
	if ref != "" {
		spec += ":" + ref
	}
	_, err := r.Run(ctx, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance",
		"--no-recurse-submodules", "--no-write-commit-graph", "--no-prune", "--upload-pack=git-upload-pack",
		"--end-of-options", from, spec)
	return err
}

// clone makes repo.git if it is not there. It is built aside and renamed, so
// that a half-made one is never used.
func (s *Store) clone(ctx context.Context) error {
	if _, err := os.Stat(s.git.Dir); err == nil {
		return nil
	}
	from, err := s.user.Common(ctx)
	if err != nil {
		return err
	}
	head, err := s.user.Resolve(ctx, "HEAD") // before the objects: all it needs is then among them
	if err != nil {
		return err
	}
	aside := s.git.Dir + ".new"
	if err := os.RemoveAll(aside); err != nil {
		return storage("clear a half-made clone", err)
	}
	args := []string{"clone", "--quiet", "--bare", "--no-tags", "--template=", "--end-of-options", from, aside}
	if _, err := (git.Repo{}).Run(ctx, args...); err != nil {
		return fmt.Errorf("clone the repository: %w", err)
	}
	if err := s.settle(ctx, aside, from, head); err != nil {
		return err
	}
	return storage("put the clone in place", os.Rename(aside, s.git.Dir))
}

// settle turns a fresh clone into the private one: no remote, no branches of
// the user's, no objects that stand elsewhere, and a configuration of ours.
func (s *Store) settle(ctx context.Context, dir, from, head string) error {
	r := git.Repo{Dir: dir}
	format, err := r.Line(ctx, "rev-parse", "--show-object-format")
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, "objects", "info", "alternates")); err == nil {
		if _, err := r.Run(ctx, "repack", "-a", "-d", "-q"); err != nil {
			return err
		}
		if err := os.Remove(filepath.Join(dir, "objects", "info", "alternates")); err != nil {
			return storage("cut the clone loose", err)
		}
	}
	for _, name := range []string{"refs/heads", "packed-refs", "FETCH_HEAD", "description", "hooks", "branches", "info"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
			return storage("clear the clone", err)
		}
	}
	files := map[string]string{
		"config":       config(format, true),
		"HEAD":         "ref: refs/heads/nexus-none\n",
		"info/exclude": exclude(from),
	}
	for name, text := range files {
		if err := write(filepath.Join(dir, name), text); err != nil {
			return err
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "refs", "heads"), 0o700); err != nil {
		return storage("write the clone", err)
	}
	_, err = r.Run(ctx, "update-ref", "refs/user/"+head, head)
	return err
}

// config is the whole configuration of a git directory of ours. Nothing in
// it starts a program.
func config(format string, bare bool) string {
	var b strings.Builder
	version := 0
	if format == "sha256" {
		version = 1
		b.WriteString("[extensions]\n\tobjectFormat = sha256\n")
	}
	fmt.Fprintf(&b, "[core]\n\trepositoryFormatVersion = %d\n\tbare = %t\n\tfileMode = true\n", version, bare)
	b.WriteString("\tcheckStat = minimal\n\ttrustCTime = false\n\tfsmonitor = false\n\thooksPath = /dev/null\n")
	b.WriteString("[gc]\n\tauto = 0\n[maintenance]\n\tauto = false\n[advice]\n\tdetachedHead = false\n")
	if !bare {
		b.WriteString("[user]\n\tname = nexus\n\temail = nexus@localhost\n[commit]\n\tgpgSign = false\n")
	}
	return b.String()
}

// maxExclude is how much of the user's own list of ignored files is taken.
const maxExclude = 1 << 20

// exclude returns the user's private ignore list, if there is one.
func exclude(common string) string {
	name := filepath.Join(common, "info", "exclude")
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() || info.Size() > maxExclude {
		return ""
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	return string(data)
}

// locked runs do while holding the lock of the store, across processes.
func (s *Store) locked(ctx context.Context, do func(context.Context) error) error {
	l := flock.New(filepath.Join(s.dir, "trees.lock"))
	if ok, err := l.TryLockContext(ctx, lockPoll); err != nil || !ok {
		return storage("lock the trees", errors.Join(err, context.Cause(ctx)))
	}
	return errors.Join(do(ctx), l.Close())
}

// write makes a file of ours with its directory.
func write(name, text string) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return storage("make a directory", err)
	}
	return storage("write a file", os.WriteFile(name, []byte(text), 0o600))
}

func storage(what string, err error) error {
	if err == nil {
		return nil
	}
	code := nexus.CodeStorage
	hint := "See that the state directory is on a disk that can be written."
	if errors.Is(err, fs.ErrPermission) {
		code = nexus.CodeReadOnly
	}
	if full(err) {
		code, hint = nexus.CodeDiskFull, "Free some space, then resume the run."
	}
	return &nexus.Error{Code: code, Message: what, Hint: hint, Cause: err}
}
