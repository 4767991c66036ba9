package worktree

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// gateRepoUse is the state of the git directory that gates see in a tree. The zero value is not
// set up.
type gateRepoUse struct {
	of    git.ObjectBorrowingRepo
	users int // current users

	tree string         // the tree that refs was read for
	refs []git.NamedRef // the user's refs when the first gate ran on the tree
}

// gateRepoGitFile is the content of the .git file that points to it. The agent's own git directory is
// not trustworthy for gates: the agent may have written there.
const gateRepoGitFile = "gitdir: ../judged\n"

// ExposeGateRepo replaces the agent's git directory for gates, while the files are those of a
// tree: HEAD is a commit of exactly that tree, on top of the attempt's base, on its branch, with
// the user's refs. It returns the paths that a sandbox must make readable; done restores the
// agent's own git directory. No other process may use that meanwhile.
func (t *AttemptTree) ExposeGateRepo(ctx context.Context, tree string) (reads []string, done func() error, err error) {
	names, err := t.refsForGates(ctx, tree)
	if err != nil {
		return nil, nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.judged.tree, t.judged.refs = tree, names
	commit, err := t.s.standInCommit(ctx, t.Base, tree)
	if err != nil {
		return nil, nil, err
	}
	m := git.ObjectBorrowingRepo{
		Dir: filepath.Join(t.home, "judged"), Work: t.Dir, From: t.s.git.Dir,
		Commit: commit, Branch: AttemptBranch(t.Run, t.ID), Names: names, Exclude: ExternalPaths(t.Dir),
	}
	if err := t.judged.updateFromMirror(ctx, m, t.startIndexPath()); err != nil {
		return nil, nil, filewrite.WrapExternalDiskError(m.Dir, err)
	}
	if err := filewrite.WriteFile(filepath.Join(t.Dir, ".git"), []byte(gateRepoGitFile)); err != nil {
		return nil, nil, err
	}
	t.judged.users++
	return m.ReadablePaths(), func() error {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.judged.users--; t.judged.users > 0 {
			return nil
		}
		return t.linkAgentGit()
	}, nil
}

// refsForGates returns the user's refs. All gates of a tree see the same ones.
func (t *AttemptTree) refsForGates(ctx context.Context, tree string) ([]git.NamedRef, error) {
	t.mu.Lock()
	known, names := t.judged.tree == tree, t.judged.refs
	t.mu.Unlock()
	if known {
		return names, nil
	}
	return t.s.ImportNamedRefs(ctx)
}

// startIndexPath returns the path of an index for the files with which the tree started.
func (t *AttemptTree) startIndexPath() string {
	if t.lower != "" {
		return t.s.checkouts.checkoutPath(t.lower, "index")
	}
	return filepath.Join(t.home, "index")
}

// updateFromMirror updates the git directory to a mirror, if it differs. The first time it starts from an
// index with most of the files.
func (j *gateRepoUse) updateFromMirror(ctx context.Context, m git.ObjectBorrowingRepo, index string) error {
	if j.of.Equal(m) {
		return m.RefreshIndex(ctx)
	}
	fresh := j.of.Dir == ""
	j.of = git.ObjectBorrowingRepo{}
	if err := m.Write(); err != nil {
		return err
	}
	if fresh {
		if err := filewrite.CopyFile(index, filepath.Join(m.Dir, "index")); err != nil {
			return filewrite.WrapError("copy an index", err)
		}
	}
	if err := m.ResetIndex(ctx); err != nil {
		return err
	}
	j.of = m
	return m.RefreshIndex(ctx)
}

// standInCommit returns a commit of exactly a tree: the base itself, if it has that tree, or one
// on top of it. Equal arguments create the same commit. If the base is the commit of a bare tree,
// without history, the user's checked-out commit is used instead.
func (s *Store) standInCommit(ctx context.Context, base, tree string) (string, error) {
	if _, data, err := s.objects.ReadObject(ctx, base); err == nil && strings.HasSuffix(string(data), "\n\n"+startingTreeMessage+"\n") {
		base = s.UserHead()
	}
	was, at, err := s.treeAndDateOfCommit(ctx, base)
	if err != nil || was == tree {
		return base, err
	}
	commit, err := s.objects.Commit(tree, []string{base}, git.CommitIdentity{}, at+1, git.StandInMessage)
	return commit, filewrite.WrapError("keep a commit of the tree that is judged", err)
}
