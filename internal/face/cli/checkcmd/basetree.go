package checkcmd

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
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/view/verdict"
	"github.com/nexus-ai-builder/nexus/internal/work/changeeffects"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
)

// baseTree is the commit that a working tree is compared with, checked out in a separate directory.
type baseTree struct {
	at, tree string // directory to remove in the end, and the checked-out tree
	release  func() // releases the directory
	now      string // the working tree
	repo     git.Repo
	rev      string
	commit   string
	runner   gate.GateRunner
	known    map[string]nexus.GateEvidence
	changed  []string // files that differ
	tests    []string // those of them that are tests, or support tests
	dressed  bool     // the tree has the tests of the working tree
}

// checkOutBase checks a commit out, and gives it the dependencies of the working tree.
func checkOutBase(ctx context.Context, a *console.Console, rev, dir, cache string, settings config.Config, box *sandbox.Box) (b *baseTree, err error) {
	repo, err := git.FindRepo(ctx, dir)
	if err != nil {
		return nil, err
	}
	commit, err := repo.Resolve(ctx, rev)
	if err != nil {
		return nil, err
	}
	b = &baseTree{now: dir, repo: repo, rev: rev, commit: commit, known: map[string]nexus.GateEvidence{}}
	if b.changed, err = changeeffects.ChangedInWorktree(ctx, repo, commit); err != nil {
		return nil, err
	}
	for _, file := range b.changed {
		if stack.ServesTests(file) {
			b.tests = append(b.tests, file)
		}
	}
	if b.at, b.release, err = reserveDir(cache, "base"); err != nil {
		return nil, err
	}
	x, err := exportTree(ctx, repo, commit, repo, b.at)
	b.tree = x.dir
	runner, err2 := newRunner(a, box, b.tree, filepath.Join(cache, "base"), settings)
	if err := errors.Join(err, err2); err != nil {
		b.removeDir()
		return nil, fmt.Errorf("check out %s: %w", rev, err)
	}
	b.runner = (&gateStage{dir: x.dir, from: dir, base: true, copy: x}).adaptRunner(a, runner)
	return b, nil
}

// testOrigin returns the base for a runner that repeats failing tests in a directory, while it has
// its own tests; nil if no tests are repeated. The base may be nil.
func (b *baseTree) testOrigin(dir string, reruns int) *gate.OriginTree {
	switch {
	case b == nil && reruns <= 0:
		return nil
	case b == nil:
		return &gate.OriginTree{Dir: dir}
	}
	return &gate.OriginTree{Dir: b.tree, Changed: b.changed, Use: func(_ context.Context, do func(gate.GateRunner, gate.JudgedTreeDir) error) error {
		if b.dressed {
			return nil
		}
		return do(b.runner, gate.JudgedTreeDir{Dir: b.tree, Hash: b.commit})
	}}
}

// lineMoves maps the lines of the commit to lines in the working tree.
func (b *baseTree) lineMoves(ctx context.Context) (gate.TreeLineMapping, error) {
	patch, err := b.repo.Run(ctx, "diff", "--no-ext-diff", "--no-textconv", "--text", "-U0", "-M", "--no-color", "--src-prefix=a/", "--dst-prefix=b/", b.commit, "--")
	return gate.ParseLineMoves(patch), err
}

func (b *baseTree) removeDir() { _ = os.RemoveAll(b.at); b.release() } // a copy

// compareWithBase makes a runner fail a tree only for problems that the commit did not have. The gates judge
// the commit first. It returns the gates that judge the tree.
func (b *baseTree) compareWithBase(ctx context.Context, a *console.Console, now *gate.GateRunner, f Options, c config.GateSettings, gates []gate.QualityGate) ([]gate.QualityGate, error) {
	gates, err := b.addBaseGates(c, f.Gates, gates)
	if err != nil {
		return nil, err
	}
	of := changeEffect(b.now, c, b.changed)
	gates = gate.SortByDistance(gates, of.StepsFromChange)
	now.Apart = unaffectedReasons(f.Gates, b.changed, of)
	now.Base = func(name string) (nexus.GateEvidence, bool) { e, ok := b.known[name]; return e, ok }
	err = b.judgeCommit(ctx, a, slices.DeleteFunc(slices.Clone(gates), func(g gate.QualityGate) bool { return now.Apart(g) != "" }))
	if err != nil || f.Related || !slices.ContainsFunc(gates, func(g gate.QualityGate) bool { return g.Tests && b.known[g.Name].HasHung() }) {
		return gates, err
	}
	// As in a run: the full tests hang, so the related ones give a partial result.
	return addRelatedTestGates(ctx, a, b.now, b.rev, gates)
}

// needsFixedTestCheck reports whether to determine the tests of a gate that the change fixed. Tests that hang
// are not run again.
func (b *baseTree) needsFixedTestCheck(g gate.QualityGate, now nexus.GateEvidence) bool {
	return b != nil && g.Tests && g.Of == "" && !now.Apart && !now.HasHung() && !b.known[g.Name].HasHung()
}

// addBaseGates adds the gates that only the base has to those of the working tree, so that a change
// cannot remove its own checks. A deleted package has no gates.
func (b *baseTree) addBaseGates(c config.GateSettings, names []string, gates []gate.QualityGate) ([]gate.QualityGate, error) {
	had, err := detect.DetectGates(b.tree, c)
	if err != nil {
		return nil, err
	}
	for _, g := range had {
		there := slices.ContainsFunc(gates, func(now gate.QualityGate) bool { return now.Name == g.Name })
		if _, err := os.Stat(filepath.Join(b.now, g.Dir)); err == nil && !there && (len(names) == 0 || isNamedGate(names, g)) {
			gates = append(gates, g)
		}
	}
	return gates, nil
}

// judgeCommit runs the gates on the commit.
func (b *baseTree) judgeCommit(ctx context.Context, a *console.Console, gates []gate.QualityGate) error {
	for _, g := range gates {
		if g.Of != "" || g.RepeatsHangingTests(b.known[g.Again]) {
			continue
		}
		e, err := b.runner.RunGate(ctx, gate.JudgedTreeDir{Dir: b.tree, Hash: b.commit}, g)
		if err != nil {
			return err
		}
		b.known[g.Name] = e
		a.Say("%s at %s: %s", e.Gate, b.rev, e.State)
	}
	return nil
}

// fixedTests returns the tests of a gate that the change fixes. It adds the tests of the working tree
// to the code of the base: a test that fails there and passes in the working tree is fixed by the
// change.
func (b *baseTree) fixedTests(ctx context.Context, a *console.Console, g gate.QualityGate, weighed nexus.GateEvidence, said gateOutputs) ([]verdict.TestsFixedByChange, error) {
	if !b.needsFixedTestCheck(g, weighed) {
		return nil, nil
	}
	now := said.uncomparedEvidence(weighed)
	before := b.known[g.Name]
	if len(b.tests) > 0 {
		if err := b.overlayTests(); err != nil {
			return nil, fmt.Errorf("put the tests beside %s: %w", b.rev, err)
		}
		var err error
		if before, err = b.runner.RunGate(ctx, gate.JudgedTreeDir{Dir: b.tree, Hash: b.commit}, g); err != nil {
			return nil, err
		}
		a.Say("%s at %s, with the current tests: %s", before.Gate, b.rev, before.State)
	}
	// If the full list is lost, the remaining findings are used.
	before, _ = gate.WithAllFindings(before, b.runner.Get)
	now, _ = gate.WithAllFindings(now, b.runner.Get)
	tests := gate.FixedTests(before, now, b.originalTestDir(), b.now, b.changed)
	if len(tests) == 0 {
		return nil, nil
	}
	return []verdict.TestsFixedByChange{{Gate: g.Name, Tests: tests}}, nil
}

// originalTestDir is the directory with the original test files.
func (b *baseTree) originalTestDir() string {
	if b.dressed {
		return filepath.Join(b.at, "was")
	}
	return b.tree
}

// overlayTests puts the tests of the working tree into the base, and saves the originals.
func (b *baseTree) overlayTests() error {
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
		if err := copyGoTests(tree, dir, filepath.Join(b.at, "was", dir)); err != nil {
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

// copyGoTests copies the Go tests of a directory.
func copyGoTests(tree *os.Root, dir, to string) error {
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
