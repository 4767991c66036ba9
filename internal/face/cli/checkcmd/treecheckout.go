package checkcmd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/verdictformat"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/view/verdict"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
)

// reproduction is the JSON output of --tree.
type reproduction struct {
	verdict.TreeVerdict
	Tree  string           `json:"tree"`
	Again []gateComparison `json:"again"`
}

// treeCheckout is a tree of the repository or of its private clone, checked out in a separate
// directory.
type treeCheckout struct {
	dir, hash string
	repo      git.Repo // its work tree is the checkout
	from      string   // the user's repository, with the installed dependencies; may be empty
	lent      []string // linked directories of it, which must be readable
	modules   []git.Submodule
	git       *git.ObjectBorrowingRepo // the git directory that gates see; nil for none
	done      func()
}

// checkOutTree creates a directory with exactly the content of a tree.
func checkOutTree(ctx context.Context, p *app.Repository, cache, rev string) (treeCheckout, error) {
	var x treeCheckout
	var err error
	from := p.Repo
	if x.hash, err = from.TreeID(ctx, rev); err != nil {
		from = git.Repo{Dir: filepath.Join(p.State, "repo.git")}
		if _, missing := os.Stat(from.Dir); missing != nil {
			return x, err
		}
		if hash, inClone := from.TreeID(ctx, rev); inClone == nil {
			x.hash, err = hash, nil
		}
	}
	if err != nil {
		return x, err
	}
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return x, err
	}
	at, err := os.MkdirTemp(cache, "tree-")
	if err != nil {
		return x, err
	}
	hash, of := x.hash, x.hash
	if commit, err := from.Resolve(ctx, rev); err == nil {
		of = commit
	}
	if x, err = exportTree(ctx, from, of, p.Repo, at); err != nil {
		err = fmt.Errorf("check out %s: %w", rev, err)
	}
	x.hash = hash
	if x.done = func() { _ = os.RemoveAll(at) }; err != nil { // a copy
		x.done()
	}
	return x, err
}

// exportTree writes a commit or tree of a repository into a directory below at, and links the
// installed dependencies of the user's repository.
func exportTree(ctx context.Context, from git.Repo, rev string, user git.Repo, at string) (treeCheckout, error) {
	x := treeCheckout{hash: rev, dir: filepath.Join(at, "tree"), from: user.Work}
	x.repo = git.Repo{Dir: from.Dir, Work: x.dir, Index: filepath.Join(at, "index")}
	x.modules = ownSubmodules(ctx, from, x.hash, user)
	var err error
	// The private clone also has the LFS files that agents added.
	if x.repo.LFS, err = user.LFSStore(ctx); from.Dir != user.Dir {
		x.repo.LFS.Own = filepath.Join(filepath.Dir(from.Dir), "lfs", "objects")
	}
	err = errors.Join(err, os.Mkdir(x.dir, 0o700))
	if err == nil {
		_, err = x.repo.Run(ctx, "read-tree", x.hash)
	}
	if err = errors.Join(err, x.resetTree(ctx, true)); err == nil && x.from != "" {
		x.lent = lendInstalled(x.from, x.dir)
	}
	if err == nil {
		err = x.exposeGitDir(ctx, from, user)
	}
	return x, err
}

// exposeGitDir gives gates a git directory whose HEAD is the tree, with the user's author names. It is on
// the user's branch if that is at the same commit.
func (x *treeCheckout) exposeGitDir(ctx context.Context, from, user git.Repo) error {
	common, err := user.CommonDir(ctx)
	if err != nil {
		return err
	}
	m := git.ObjectBorrowingRepo{Dir: filepath.Join(filepath.Dir(x.dir), "judged"), Work: x.dir, From: common}
	if own, err := from.CommonDir(ctx); err == nil && own != common {
		m.Objects = []string{filepath.Join(own, "objects")}
	}
	for _, dir := range x.lent {
		if rel, err := filepath.Rel(x.from, dir); err == nil {
			m.Exclude = append(m.Exclude, filepath.ToSlash(rel))
		}
	}
	head, branch, err1 := user.Head(ctx)
	m.Names, err = user.NamedRefs(ctx)
	m.Commit = head
	if err := errors.Join(err1, err, m.Write()); err != nil {
		return err
	}
	if m.Commit, err = m.SubstituteCommit(ctx, x.hash, head); err != nil {
		return err
	}
	if m.Commit == head && branch != "" {
		m.Branch = "refs/heads/" + branch
	}
	if err := errors.Join(m.Write(), m.ResetIndex(ctx), os.WriteFile(filepath.Join(x.dir, ".git"), []byte("gitdir: ../judged\n"), 0o600)); err != nil {
		return err
	}
	x.git = &m
	return nil
}

// readableGitPaths returns the git directory that a gate sees; see [gate.GateRunner].
func (x treeCheckout) readableGitPaths(ctx context.Context) ([]string, func() error, error) {
	done := func() error { return nil }
	if x.git == nil {
		return nil, done, nil
	}
	return x.git.ReadablePaths(), done, x.git.RefreshIndex(ctx)
}

// newRunner returns a runner for gates and other commands on the tree.
func (x treeCheckout) newRunner(ctx context.Context, a *console.Console, p *app.Repository, cache string, settings config.Config) (gate.GateRunner, error) {
	box, err := app.FindSandbox(ctx, settings)
	if err != nil {
		return gate.GateRunner{}, err
	}
	r, err := newRunner(a, box, x.dir, filepath.Join(cache, "tree"), settings)
	if err != nil {
		return r, err
	}
	r.Ground = x.readableGitPaths
	r.Reset, r.Readable, r.Env = x.resetTree, append(r.Readable, x.lent...), append(r.Env, editableInstalls(x.from, x.dir, x.lent, a.Env("VIRTUAL_ENV"))...)
	grant, err := app.EnforceableEgressGrant(settings.Network, app.WorkTreeRoot(p.Repo.Work), a.TrustStore(), a.Env, box)
	r.Net = grant.GatewayForGate
	return r, err
}

// writtenFiles returns the files that differ from the tree.
func (x treeCheckout) writtenFiles(ctx context.Context) (w gate.WrittenFiles, err error) {
	none := func(name string) bool { return name == "" }
	out, err := x.repo.Run(ctx, "diff-files", "--name-only", "-z", "--ignore-submodules")
	if err != nil {
		return w, err
	}
	w.Changed = slices.DeleteFunc(strings.Split(out, "\x00"), none)
	out, err = x.repo.Run(ctx, "ls-files", "--others", "--exclude-standard", "-z")
	w.Added = slices.DeleteFunc(strings.Split(out, "\x00"), none)
	return w, err
}

// resetTree restores the tree; bare also removes ignored files, except linked dependencies.
func (x treeCheckout) resetTree(ctx context.Context, bare bool) error {
	clean := []string{"clean", "-ffdq"}
	if bare {
		clean = append(clean, "-x")
	}
	for _, dir := range x.lent {
		if rel, err := filepath.Rel(x.from, dir); err == nil {
			clean = append(clean, "-e", "/"+filepath.ToSlash(rel))
		}
	}
	_, err := x.repo.Run(ctx, clean...)
	_, err2 := x.repo.Run(ctx, "checkout-index", "--all", "--force", "--index")
	if err2 == nil {
		err2 = worktree.PlaceLFSContent(ctx, x.repo, len(x.hash)/2)
	}
	writeSubmodules(ctx, x.modules, x.dir, filepath.Dir(x.dir))
	return errors.Join(err, err2)
}

// recordedCommandGates returns the extra commands of a run that are not gates, from its records.
func recordedCommandGates(old map[string]pastRecord) []gate.QualityGate {
	var all []gate.QualityGate
	for _, name := range slices.Sorted(maps.Keys(old)) {
		if line, ok := strings.CutPrefix(name, nexus.AcceptGate); ok && line != "" {
			if g, ok := detect.CriterionGate(nexus.Criterion{Check: old[name].Evidence.Command}); ok {
				g.Name = name
				all = append(all, g)
			}
		}
	}
	return all
}

// commitOf returns the commit of a task's change.
func commitOf(ctx context.Context, a *console.Console, run string, id nexus.TaskID) (commit string, err error) {
	err = a.ReadRun(ctx, run, func(_ *app.Repository, r journal.RecordedRun, s *state.State) error {
		t := s.TaskByID(id)
		if t == nil {
			return app.NotFoundError("task", string(id), "nexus status lists the tasks of run "+string(r.ID)+".")
		}
		if _, commit = t.ChangedCommits(); commit == "" {
			return &nexus.Error{
				Code: nexus.CodeNotFound, Message: string(id) + " has changed nothing yet", Hint: "Wait until its agent has written something.",
			}
		}
		return nil
	})
	return commit, err
}

// gatesToRerun returns the gates to run again: those of a tree and the extra commands of a run, or the
// named ones of both.
func gatesToRerun(dir string, c config.GateSettings, names []string, besides []gate.QualityGate) ([]gate.QualityGate, error) {
	named := func(g gate.QualityGate) bool { return len(names) == 0 || slices.Contains(names, g.Name) }
	var more []gate.QualityGate
	for _, g := range besides {
		if named(g) {
			more = append(more, g)
		}
	}
	rest := slices.DeleteFunc(slices.Clone(names), func(n string) bool {
		return slices.ContainsFunc(more, func(g gate.QualityGate) bool { return g.Name == n })
	})
	if len(names) > 0 && len(rest) == 0 {
		return more, nil
	}
	gates, err := pickGates(dir, c, rest)
	return append(gates, more...), err
}

// reproduceTree runs the gates on a clean checkout of exactly one tree, and prints whether their
// results match a run's records.
func reproduceTree(ctx context.Context, a *console.Console, f Options, shape string, settings config.Config) error {
	p, err := a.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	cache := gateCacheDir(a, p.State)
	x, err := checkOutTree(ctx, p, cache, f.Tree)
	if err != nil {
		return err
	}
	defer x.done()
	old, err := pastRecords(ctx, p, x.hash)
	if err != nil {
		return err
	}
	gates, err := gatesToRerun(x.dir, settings.Gates, f.Gates, recordedCommandGates(old))
	if err != nil {
		return err
	}
	off, err := f.disabledGates(x.dir, settings.Gates)
	if err != nil {
		return err
	}
	if f.List {
		return listGates(a, gates, off, false)
	}
	r, err := x.newRunner(ctx, a, p, cache, settings)
	if err != nil {
		return err
	}
	out := reproduction{Tree: x.hash}
	var all []nexus.GateEvidence
	for _, g := range gates {
		e, err := withVirtualEnvPrograms(r, x.dir).RunGate(ctx, gate.JudgedTreeDir{Dir: x.dir, Hash: x.hash}, g)
		if err != nil {
			return err
		}
		all = append(all, e)
		c := compareToPast(old, e)
		out.Again = append(out.Again, c)
		a.Say("%s", c)
	}
	out.TreeVerdict = verdict.CombineGateResults(all).WithDisabledGates(off)
	if err := verdictformat.Write(a, shape, out.TreeVerdict, out); err != nil {
		return err
	}
	if slices.ContainsFunc(out.Again, func(c gateComparison) bool { return c.Recorded && !c.Same }) {
		return console.ExitError(console.CodeFailed)
	}
	return verdictExitError(out.State)
}
