package worktree

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// gateRepo is what the git directory is at that a tree shows to who judges it. The zero
// judged is at nothing.
type gateRepo struct {
	of    git.Mirror
	users int // who look at it now
}

// gateRepoLink leads from the files to it. The agent's own git directory would tell what
// the agent wants: it may have written there.
const gateRepoLink = "gitdir: ../judged\n"

// ExposeGateRepo lets those who judge the files, which are those of a tree, find a git
// directory whose HEAD is a commit of exactly that tree, on top of what the attempt
// started from, on its branch, with the user's names. It returns what a sandbox must
// let them read, and no more; done lets the agent's own git be found again. Nobody
// else may use that meanwhile.
func (t *Tree) ExposeGateRepo(ctx context.Context, tree string) (reads []string, done func() error, err error) {
	names, err := t.s.Names(ctx)
	if err != nil {
		return nil, nil, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	commit, err := t.s.standInCommit(ctx, t.Base, tree)
	if err != nil {
		return nil, nil, err
	}
	m := git.Mirror{
		Dir: filepath.Join(t.home, "judged"), Work: t.Dir, From: t.s.git.Dir,
		Commit: commit, Branch: Branch(t.Run, t.ID), Names: names, Exclude: ExternalPaths(t.Dir),
	}
	if err := t.judged.update(ctx, m, t.startIndex()); err != nil {
		return nil, nil, disk.WrapIfFull(m.Dir, err)
	}
	if err := disk.Write(filepath.Join(t.Dir, ".git"), []byte(gateRepoLink)); err != nil {
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

// startIndex is an index that knows the files that the tree began with.
func (t *Tree) startIndex() string {
	if t.lower != "" {
		return t.s.shelf.path(t.lower, "index")
	}
	return filepath.Join(t.home, "index")
}

// update makes the git directory that of a mirror, where it is not. The first time it
// begins with an index that knows the files, or most of them.
func (j *gateRepo) update(ctx context.Context, m git.Mirror, index string) error {
	if j.of.Equal(m) {
		return m.RefreshIndex(ctx)
	}
	fresh := j.of.Dir == ""
	j.of = git.Mirror{}
	if err := m.Write(); err != nil {
		return err
	}
	if fresh {
		if err := disk.Copy(index, filepath.Join(m.Dir, "index")); err != nil {
			return disk.WrapError("copy an index", err)
		}
	}
	if err := m.ResetIndex(ctx); err != nil {
		return err
	}
	j.of = m
	return m.RefreshIndex(ctx)
}

// standInCommit returns a commit of exactly a tree: the base itself, where that is its tree,
// or one on top of it. The same arguments make the same commit. In the place of a base
// that is the commit of a bare tree, which nobody has a history of, is what the user
// had checked out.
func (s *Store) standInCommit(ctx context.Context, base, tree string) (string, error) {
	if _, data, err := s.objects.Read(ctx, base); err == nil && strings.HasSuffix(string(data), "\n\n"+bareTree+"\n") {
		base = s.Head()
	}
	was, at, err := s.treeOf(ctx, base)
	if err != nil || was == tree {
		return base, err
	}
	commit, err := s.objects.Commit(tree, []string{base}, git.Identity{}, at+1, git.StandInMessage)
	return commit, disk.WrapError("keep a commit of the tree that is judged", err)
}
