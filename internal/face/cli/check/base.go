package check

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/view/verdict"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/change"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
)

// base is the commit that a working tree is compared with, checked out in a separate directory.
type base struct {
	at, tree string // directory to remove in the end, and the checked-out tree
	release  func() // releases the directory
	now      string // the working tree
	repo     git.Repo
	rev      string
	commit   string
	runner   gate.Runner
	known    map[string]nexus.Evidence
	changed  []string // files that differ
	tests    []string // those of them that are tests, or support tests
	dressed  bool     // the tree has the tests of the working tree
}

// checkOut checks a commit out, and gives it the dependencies of the working tree.
func checkOut(ctx context.Context, a *console.Console, rev, dir, cache string, settings config.Config, box *sandbox.Box) (b *base, err error) {
	repo, err := git.Find(ctx, dir)
	if err != nil {
		return nil, err
	}
	commit, err := repo.Resolve(ctx, rev)
	if err != nil {
		return nil, err
	}
	b = &base{now: dir, repo: repo, rev: rev, commit: commit, known: map[string]nexus.Evidence{}}
	if b.changed, err = change.ChangedInWorktree(ctx, repo, commit); err != nil {
		return nil, err
	}
	for _, file := range b.changed {
		if stack.ServesTests(file) {
			b.tests = append(b.tests, file)
		}
	}
	if b.at, b.release, err = place(cache, "base"); err != nil {
		return nil, err
	}
	x, err := export(ctx, repo, commit, repo, b.at)
	b.tree = x.dir
	runner, err2 := runner(a, box, b.tree, filepath.Join(cache, "base"), settings)
	if err := errors.Join(err, err2); err != nil {
		b.remove()
		return nil, fmt.Errorf("check out %s: %w", rev, err)
	}
	b.runner = (&stage{dir: x.dir, from: dir, base: true, copy: x}).fit(a, runner)
	return b, nil
}

// origin returns the base for a runner that repeats failing tests in a directory, while it has
// its own tests; nil if no tests are repeated. The base may be nil.
func (b *base) origin(dir string, reruns int) *gate.Origin {
	switch {
	case b == nil && reruns <= 0:
		return nil
	case b == nil:
		return &gate.Origin{Dir: dir}
	}
	return &gate.Origin{Dir: b.tree, Changed: b.changed, Use: func(_ context.Context, do func(gate.Runner, gate.Tree) error) error {
		if b.dressed {
			return nil
		}
		return do(b.runner, gate.Tree{Dir: b.tree, Hash: b.commit})
	}}
}

// moved maps the lines of the commit to lines in the working tree.
func (b *base) moved(ctx context.Context) (gate.Moves, error) {
	patch, err := b.repo.Run(ctx, "diff", "--no-ext-diff", "--no-textconv", "--text", "-U0", "-M", "--no-color", "--src-prefix=a/", "--dst-prefix=b/", b.commit, "--")
	return gate.ParseMoves(patch), err
}

func (b *base) remove() { _ = os.RemoveAll(b.at); b.release() } // a copy

// hold makes a runner fail a tree only for problems that the commit did not have. The gates judge
// the commit first. It returns the gates that judge the tree.
func (b *base) hold(ctx context.Context, a *console.Console, now *gate.Runner, f checkFlags, c config.Gates, gates []gate.Gate) ([]gate.Gate, error) {
	gates, err := b.union(c, f.gates, gates)
	if err != nil {
		return nil, err
	}
	of := effect(b.now, c, b.changed)
	gates = gate.SortByDistance(gates, of.Steps)
	now.Apart = aside(f.gates, b.changed, of)
	now.Base = func(name string) (nexus.Evidence, bool) { e, ok := b.known[name]; return e, ok }
	err = b.judge(ctx, a, slices.DeleteFunc(slices.Clone(gates), func(g gate.Gate) bool { return now.Apart(g) != "" }))
	if err != nil || f.related || !slices.ContainsFunc(gates, func(g gate.Gate) bool { return g.Tests && b.known[g.Name].Hung() }) {
		return gates, err
	}
	// As in a run: the full tests hang, so the related ones give a partial result.
	return concerned(ctx, a, b.now, b.rev, gates)
}

// turns reports whether to determine the tests of a gate that the change fixed. Tests that hang
// are not run again.
func (b *base) turns(g gate.Gate, now nexus.Evidence) bool {
	return b != nil && g.Tests && g.Of == "" && !now.Apart && !now.Hung() && !b.known[g.Name].Hung()
}

// union adds the gates that only the base has to those of the working tree, so that a change
// cannot remove its own checks. A deleted package has no gates.
func (b *base) union(c config.Gates, names []string, gates []gate.Gate) ([]gate.Gate, error) {
	had, err := detect.Gates(b.tree, c)
	if err != nil {
		return nil, err
	}
	for _, g := range had {
		there := slices.ContainsFunc(gates, func(now gate.Gate) bool { return now.Name == g.Name })
		if _, err := os.Stat(filepath.Join(b.now, g.Dir)); err == nil && !there && (len(names) == 0 || asked(names, g)) {
			gates = append(gates, g)
		}
	}
	return gates, nil
}

// judge runs the gates on the commit.
func (b *base) judge(ctx context.Context, a *console.Console, gates []gate.Gate) error {
	for _, g := range gates {
		if g.Of != "" || g.RepeatsHangingTests(b.known[g.Again]) {
			continue
		}
		e, err := b.runner.Judge(ctx, gate.Tree{Dir: b.tree, Hash: b.commit}, g)
		if err != nil {
			return err
		}
		b.known[g.Name] = e
		a.Say("%s at %s: %s", e.Gate, b.rev, e.State)
	}
	return nil
}

// turned returns the tests of a gate that the change fixes. It adds the tests of the working tree
// to the code of the base: a test that fails there and passes in the working tree is fixed by the
// change.
func (b *base) turned(ctx context.Context, a *console.Console, g gate.Gate, weighed nexus.Evidence, said outputs) ([]verdict.FixedTests, error) {
	if !b.turns(g, weighed) {
		return nil, nil
	}
	now := said.unweighed(weighed)
	before := b.known[g.Name]
	if len(b.tests) > 0 {
		if err := b.dress(); err != nil {
			return nil, fmt.Errorf("put the tests beside %s: %w", b.rev, err)
		}
		var err error
		if before, err = b.runner.Judge(ctx, gate.Tree{Dir: b.tree, Hash: b.commit}, g); err != nil {
			return nil, err
		}
		a.Say("%s at %s, with the current tests: %s", before.Gate, b.rev, before.State)
	}
	// If the full list is lost, the remaining findings are used.
	before, _ = gate.WithAllFindings(before, b.runner.Get)
	now, _ = gate.WithAllFindings(now, b.runner.Get)
	tests := gate.FixedTests(before, now, b.original(), b.now, b.changed)
	if len(tests) == 0 {
		return nil, nil
	}
	return []verdict.FixedTests{{Gate: g.Name, Tests: tests}}, nil
}

// original is the directory with the original test files.
func (b *base) original() string {
	if b.dressed {
		return filepath.Join(b.at, "was")
	}
	return b.tree
}

// dress puts the tests of the working tree into the base, and saves the originals.
func (b *base) dress() error {
	if b.dressed {
		return nil
	}
	b.dressed = true
	b.runner.Reset, b.runner.Wrote = nil, nil // it would remove them again
	now, err := os.OpenRoot(b.now)
	if err != nil {
		return err
	}
	defer func() { _ = now.Close() }() // read-only
	tree, err := os.OpenRoot(b.tree)
	if err != nil {
		return err
	}
	defer func() { _ = tree.Close() }() // each file is closed separately
	dirs := map[string]bool{}
	for _, file := range b.tests {
		dirs[filepath.Dir(file)] = true
	}
	for _, dir := range slices.Sorted(maps.Keys(dirs)) { // the whole directory: Go tests share their helpers
		if err := keep(tree, dir, filepath.Join(b.at, "was", dir)); err != nil {
			return err
		}
	}
	for _, file := range b.tests {
		data, err := now.ReadFile(file)
		if errors.Is(err, fs.ErrNotExist) {
			if err := tree.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			continue
		}
		mode := fs.FileMode(0o600)
		if info, err := now.Lstat(file); err == nil && info.Mode().IsRegular() {
			mode = info.Mode().Perm()
		}
		if err == nil {
			err = tree.MkdirAll(filepath.Dir(file), 0o700)
		}
		if err == nil {
			err = tree.WriteFile(file, data, mode)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// keep copies the Go tests of a directory.
func keep(tree *os.Root, dir, to string) error {
	entries, err := fs.ReadDir(tree.FS(), filepath.ToSlash(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return err
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), "_test.go") || !e.Type().IsRegular() {
			continue
		}
		data, err := tree.ReadFile(filepath.Join(dir, e.Name()))
		if err == nil {
			err = os.WriteFile(filepath.Join(to, e.Name()), data, 0o600)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
