package checkcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// ReviewScope selects the change to review.
type ReviewScope struct {
	Range  string // A..B, A...B, or A for the changes since A; empty: the uncommitted changes
	Base   string // the changes since the common ancestor with this
	Staged bool   // only the staged changes
}

// reviewSubject is a change, and a copy of the tree after it.
type reviewSubject struct {
	repo     git.Repo // a scratch repository that reads the user's
	head     string   // the user's commit when the scratch repository was created
	staging  string   // the user's index
	dir      string   // the copy
	at       string   // parent directory of all of it
	from, to string   // commit and tree
	title    string
	words    []string // first lines of the commits, oldest first
	diff     string
}

// remove deletes the copy.
func (s *reviewSubject) remove() { _ = os.RemoveAll(s.at) }

// openReview finds the change and copies the tree. It writes nothing to the user's repository:
// uncommitted changes are stored in a scratch repository.
func openReview(ctx context.Context, user git.Repo, o ReviewScope) (s *reviewSubject, err error) {
	s = &reviewSubject{}
	if s.at, err = os.MkdirTemp("", "nexus-review-"); err != nil {
		return nil, &nexus.Error{Code: nexus.CodeStorage, Message: "make a directory", Cause: err, Hint: "Set TMPDIR to a writable directory."}
	}
	defer func(made *reviewSubject) {
		if err != nil {
			made.remove()
		}
	}(s)
	s.dir = filepath.Join(s.at, "tree")
	if err = s.open(ctx, user); err != nil {
		return nil, fmt.Errorf("copy the change: %w", err)
	}
	if err := s.findRange(ctx, user, o); err != nil {
		return nil, err
	}
	copied := s.repo
	copied.Work, copied.Index = s.dir, filepath.Join(s.at, "copied")
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		return nil, err
	}
	for _, args := range [][]string{{"read-tree", s.to}, {"checkout-index", "--all", "--force"}} {
		if _, err := copied.Run(ctx, args...); err != nil {
			return nil, fmt.Errorf("copy the tree: %w", err)
		}
	}
	if s.diff, err = s.repo.Diff(ctx, s.from, s.to); err != nil {
		return nil, err
	}
	if strings.TrimSpace(s.diff) == "" {
		return nil, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "nothing to review: " + s.title + " are empty",
			Hint: "Give the change to review: --base main, --staged, or a range such as main..HEAD.",
		}
	}
	return s, nil
}

// storedTree is a snapshot of a repository's working tree, stored in a scratch repository that
// reads the user's. Close must be called.
type storedTree struct {
	Repo git.Repo // the scratch repository
	Hash string   // of the tree, with new files and without ignored ones

	subject *reviewSubject
	user    git.Repo
}

// readWorking stores the working tree of a repository that has a commit.
func readWorking(ctx context.Context, user git.Repo) (*storedTree, error) {
	s := &reviewSubject{}
	var err error
	if s.at, err = os.MkdirTemp("", "nexus-check-"); err != nil {
		return nil, &nexus.Error{Code: nexus.CodeStorage, Message: "make a directory", Cause: err, Hint: "Set TMPDIR to a writable directory."}
	}
	w := &storedTree{subject: s, user: user}
	if err = s.open(ctx, user); err == nil {
		w.Repo = s.repo
		w.Hash, err = s.storeWorkingTree(ctx, user)
	}
	if err != nil {
		w.Close()
		return nil, fmt.Errorf("copy the change: %w", err)
	}
	return w, nil
}

// rehash returns the hash of the current working tree. It reads only files that changed since the
// last snapshot.
func (w *storedTree) rehash(ctx context.Context) (string, error) {
	return w.subject.updateStoredTree(ctx, w.user)
}

// Close deletes the stored tree.
func (w *storedTree) Close() { w.subject.remove() }

// open creates the scratch repository, which reads the objects of the user's. It fails if that
// has no commit.
func (s *reviewSubject) open(ctx context.Context, user git.Repo) error {
	told, err := user.RunLine(ctx, "rev-parse", "--path-format=absolute", "--show-object-format", "HEAD^{commit}", "--git-common-dir", "--git-path", "index")
	if err != nil {
		return err
	}
	lines := strings.Split(told, "\n")
	if len(lines) != 4 {
		return fmt.Errorf("the path of the repository %q has more than one line", user.Dir)
	}
	var format, common string
	format, s.head, common, s.staging = lines[0], lines[1], lines[2], lines[3]
	s.repo = git.Repo{Dir: filepath.Join(s.at, "repo.git")}
	if err := os.Mkdir(s.repo.Dir, 0o700); err != nil {
		return err
	}
	if _, err := s.repo.Run(ctx, "init", "--quiet", "--bare", "--template=", "--object-format="+format, s.repo.Dir); err != nil {
		return err
	}
	info := filepath.Join(s.repo.Dir, "objects", "info")
	own := filepath.Join(s.repo.Dir, "info")
	err = errors.Join(os.MkdirAll(info, 0o700), os.MkdirAll(own, 0o700), os.WriteFile(filepath.Join(info, "alternates"), []byte(filepath.Join(common, "objects")+"\n"), 0o600))
	if ignored, missing := os.ReadFile(filepath.Join(common, "info", "exclude")); missing == nil { //nolint:gosec // git's own file
		err = errors.Join(err, os.WriteFile(filepath.Join(own, "exclude"), ignored, 0o600))
	}
	return err
}

// findRange finds the commit before the change and the tree after it.
func (s *reviewSubject) findRange(ctx context.Context, user git.Repo, o ReviewScope) error {
	var err error
	from, to, both := strings.Cut(o.Range, "..")
	fork := strings.HasPrefix(to, ".")
	to = strings.TrimPrefix(to, ".")
	switch {
	case o.Staged:
		s.from, s.title = s.head, "the staged changes"
		s.to, err = s.stagedTree(ctx)
		return err
	case both:
		if s.from, err = user.Resolve(ctx, orHeadRevision(from)); err != nil {
			return err
		}
		tip, err := user.Resolve(ctx, orHeadRevision(to))
		if err != nil {
			return err
		}
		s.title = "the commits of " + o.Range
		if fork {
			if s.from, err = mergeBase(ctx, user, s.from, tip); err != nil {
				return err
			}
		}
		if s.to, err = user.TreeID(ctx, tip); err != nil {
			return err
		}
		return s.readCommitSubjects(ctx, user, tip)
	case o.Range != "" || o.Base != "":
		name := o.Range + o.Base
		if s.from, err = user.Resolve(ctx, name); err != nil {
			return err
		}
		if o.Base != "" {
			if s.from, err = mergeBase(ctx, user, s.from, s.head); err != nil {
				return err
			}
		}
		s.title = "the changes since " + name
		if err := s.readCommitSubjects(ctx, user, s.head); err != nil {
			return err
		}
	default:
		s.from, s.title = s.head, "the uncommitted changes"
	}
	s.to, err = s.storeWorkingTree(ctx, user)
	return err
}

func orHeadRevision(rev string) string {
	if rev == "" {
		return "HEAD"
	}
	return rev
}

func mergeBase(ctx context.Context, r git.Repo, a, b string) (string, error) {
	base, err := r.MergeBase(ctx, a, b)
	if err == nil && base == "" {
		return "", &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "the two revisions have no common commit",
			Hint: "Fetch the whole history, or give a range with two dots.",
		}
	}
	return base, err
}

// maxWords limits the commits whose subjects are shown.
const maxWords = 50

// readCommitSubjects reads the subjects of the commits.
func (s *reviewSubject) readCommitSubjects(ctx context.Context, r git.Repo, tip string) error {
	out, err := r.Run(ctx, "log", "--reverse", "--no-merges", "--format=%s", fmt.Sprintf("--max-count=%d", maxWords), s.from+".."+tip)
	for line := range strings.Lines(out) {
		s.words = append(s.words, strings.TrimSpace(line))
	}
	return err
}

// storeWorkingTree stores the working tree, with new files, and returns its tree.
func (s *reviewSubject) storeWorkingTree(ctx context.Context, user git.Repo) (string, error) {
	r := s.repo
	r.Work, r.Index = user.Work, s.indexPath()
	if err := s.seedIndex(ctx, r); err != nil {
		_ = os.Remove(r.Index) // git creates another
		if _, err := r.Run(ctx, "read-tree", s.head); err != nil {
			return "", fmt.Errorf("read the working tree: %w", err)
		}
	}
	return s.updateStoredTree(ctx, user)
}

// updateStoredTree updates the index, which describes an earlier state, with the working tree's content, and
// returns its tree.
func (s *reviewSubject) updateStoredTree(ctx context.Context, user git.Repo) (string, error) {
	r := s.repo
	r.Work, r.Index = user.Work, s.indexPath()
	if _, err := r.Run(ctx, "add", "--all", "--", "."); err != nil {
		return "", fmt.Errorf("read the working tree: %w", err)
	}
	return r.RunLine(ctx, "write-tree")
}

func (s *reviewSubject) indexPath() string { return filepath.Join(s.at, "index") }

// seedIndex creates an index of the commit from the user's index. That index records which files are
// unchanged, so that git does not read them again. An error means only that this is not possible.
func (s *reviewSubject) seedIndex(ctx context.Context, r git.Repo) error {
	info, err := os.Stat(s.staging)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(s.staging) //nolint:gosec // git names its own index
	if err != nil {
		return err
	}
	// A file as old as the index may have changed since, because git compares times.
	if err := errors.Join(os.WriteFile(r.Index, data, 0o600), os.Chtimes(r.Index, info.ModTime(), info.ModTime())); err != nil {
		return err
	}
	if _, err := r.Run(ctx, "read-tree", "--reset", s.head); err != nil {
		return err
	}
	flags, err := r.Run(ctx, "ls-files", "-v")
	for line := range strings.Lines(flags) {
		if !strings.HasPrefix(line, "H ") { // git was told to skip the file
			return errors.New("the index hides changes")
		}
	}
	return err
}

// stagedTree returns the tree of the user's index.
func (s *reviewSubject) stagedTree(ctx context.Context) (string, error) {
	data, err := os.ReadFile(s.staging) //nolint:gosec // git names its own index
	if err != nil {
		return "", fmt.Errorf("read the index: %w", err)
	}
	r := s.repo
	r.Index = filepath.Join(s.at, "index")
	if err := os.WriteFile(r.Index, data, 0o600); err != nil {
		return "", err
	}
	return r.RunLine(ctx, "write-tree")
}
