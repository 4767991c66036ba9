package checkcmd

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/portslot"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// gateStage is the place in which gates judge a working tree without changing it: the tree itself
// under an overlay that receives their writes, or a copy.
type gateStage struct {
	dir  string              // directory in which they run
	from string              // the working tree
	over string              // overlay directory; empty for a copy
	base bool                // the tree is compared with a base
	look func() treeSnapshot // snapshot of the working tree
	copy treeCheckout        // zero for an overlay
	done func()
}

// newStage creates a stage. A tree that is compared with a base is copied with the same content
// as the base's checkout, without ignored files, as the landing queue has it. Otherwise the gates
// see the tree in place, with all its build output.
func newStage(ctx context.Context, box *sandbox.Box, look func() treeSnapshot, dir, cache string, alike bool) (*gateStage, error) {
	s := &gateStage{dir: dir, from: dir, base: alike, look: look}
	if !alike {
		if ok, err := s.makeLayer(ctx, box, cache); ok || err != nil {
			return s, err
		}
	}
	at, release, err := reserveDir(cache, "copy")
	if err != nil {
		return nil, err
	}
	s.done = func() { _ = os.RemoveAll(at); release() } // a copy
	s.dir = filepath.Join(at, "tree")
	if err := s.makeCopy(ctx, at, alike); err != nil {
		s.done()
		return nil, fmt.Errorf("copy the working tree: %w", err)
	}
	return s, nil
}

// stageGates creates a stage, and a runner for it.
func stageGates(ctx context.Context, a *console.Console, own gate.GateRunner, box *sandbox.Box, look func() treeSnapshot, dir, cache string, settings config.Config, alike bool) (*gateStage, gate.GateRunner, error) {
	s, err := newStage(ctx, box, look, dir, scratchParent(dir, cache), alike)
	if err != nil {
		return nil, own, err
	}
	r, err := s.newRunner(a, own, box, cache, settings)
	if err != nil {
		s.done()
	}
	return s, r, err
}

// reserveDir returns an empty directory that no other process uses. It is the same each time unless
// another process has it, because compiler caches contain its name.
func reserveDir(cache, name string) (dir string, release func(), err error) {
	mine, err := portslot.AcquirePortSlot(filepath.Join(cache, "places"), name)
	if err != nil {
		return "", nil, err
	}
	dir = filepath.Join(cache, name+"-"+strconv.Itoa(mine.N))
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return "", nil, errors.Join(err, mine.Release())
	}
	return dir, func() { _ = mine.Release() }, nil
}

// makeLayer puts an overlay over the working tree, and reports false if that does not work here.
// Mounts within the tree would not be visible through it.
func (s *gateStage) makeLayer(ctx context.Context, box *sandbox.Box, cache string) (bool, error) {
	if mountedBelow(s.dir) {
		return false, nil
	}
	over, release, err := reserveDir(cache, "layer")
	if err != nil {
		return false, err
	}
	s.done = func() { _ = os.RemoveAll(over); release() } // writes of the gates
	if err := sandbox.MakeLayerDirs(over); err != nil || !box.SupportsWriteOverlay(ctx, s.dir, over) {
		s.done()
		return false, err
	}
	s.over = over
	return true, nil
}

// mountedBelow reports whether a directory contains a mount point, or that is unknown.
func mountedBelow(dir string) bool {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return true
	}
	plain := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range strings.Lines(string(data)) {
		words := strings.Fields(line)
		if len(words) > 4 && strings.HasPrefix(plain.Replace(words[4]), dir+"/") {
			return true
		}
	}
	return false
}

// makeCopy makes the copy: all files that git would commit, and, without a base, also ignored
// files.
func (s *gateStage) makeCopy(ctx context.Context, at string, alike bool) error {
	if working := s.workingTree(ctx); working != nil {
		user := s.look().repo
		var err error
		if s.copy, err = exportTree(ctx, working.Repo, working.Hash, user, at); err == nil && !alike {
			err = copyIgnored(ctx, user, s.dir)
		}
		return err
	}
	// Outside a repository, or before the first commit, the whole directory is copied.
	if err := os.Mkdir(s.dir, 0o700); err != nil {
		return err
	}
	lent, err := copyAll(s.from, s.dir)
	s.copy = treeCheckout{dir: s.dir, from: s.from, lent: lent}
	return err
}

// workingTree returns the working tree as stored by git; nil outside a repository, or before the
// first commit.
func (s *gateStage) workingTree(ctx context.Context) *storedTree {
	l := s.look()
	if l.repo.Dir == "" || s.from != l.repo.Work {
		return nil
	}
	if l.stored != nil {
		return l.stored
	}
	working, err := readWorking(ctx, l.repo) // the first snapshot was not kept: it would be in the tree
	if err != nil {
		return nil
	}
	remove := s.done
	s.done = func() { working.Close(); remove() }
	return working
}

// newRunner returns a runner for the stage, with the configuration and the quarantine record of the
// working tree's runner.
func (s *gateStage) newRunner(a *console.Console, own gate.GateRunner, box *sandbox.Box, cache string, settings config.Config) (gate.GateRunner, error) {
	if s.over != "" {
		return s.adaptRunner(a, own), nil
	}
	r, err := newRunner(a, box, s.dir, cache, settings)
	r.Net, r.Quarantine, r.Apart = own.Net, own.Quarantine, own.Apart
	return s.adaptRunner(a, r), err
}

// adaptRunner configures a runner for the stage.
func (s *gateStage) adaptRunner(a *console.Console, r gate.GateRunner) gate.GateRunner {
	if s.over != "" {
		r.Over, r.Reset, r.Wrote = s.over, s.clearWritten, s.writtenFiles
		return withVirtualEnvPrograms(r, s.dir)
	}
	r.Readable = append(slices.Clone(r.Readable), s.copy.lent...)
	r.Env = append(slices.Clone(r.Env), editableInstalls(s.from, s.dir, s.copy.lent, a.Env("VIRTUAL_ENV"))...)
	r.Ground = s.copy.readableGitPaths
	if s.copy.repo.Dir != "" {
		r.Wrote = s.copy.writtenFiles
		r.Reset = func(ctx context.Context, bare bool) error { return s.copy.resetTree(ctx, bare && s.base) }
	}
	return withVirtualEnvPrograms(r, s.dir)
}

// withVirtualEnvPrograms puts the programs of the tree's virtual environments first on a runner's path.
func withVirtualEnvPrograms(r gate.GateRunner, dir string) gate.GateRunner {
	setup := gate.ToolRequirements{Env: r.Env, Readable: r.Readable, Writable: r.Writable}
	r.Own = func(g gate.QualityGate) (gate.ToolRequirements, func() error, error) {
		own := setup
		own.Env = lentPrograms(dir, g.Dir, setup.Env)
		return own, func() error { return nil }, nil
	}
	return r
}

// clearWritten removes a gate's writes except ignored files. Those remain for the next gates, unless
// bare is set.
func (s *gateStage) clearWritten(ctx context.Context, bare bool) error {
	l, done, err := s.openLayer()
	if err != nil {
		return err
	}
	defer done()
	if bare {
		return l.RemoveExcept(nil)
	}
	_, keep, err := s.sortLayerFiles(ctx, l)
	if err != nil {
		return err
	}
	return l.RemoveExcept(keep)
}

// writtenFiles returns the files that a gate wrote.
func (s *gateStage) writtenFiles(ctx context.Context) (w gate.WrittenFiles, err error) {
	l, done, err := s.openLayer()
	if err != nil {
		return w, err
	}
	defer done()
	names, _, err := s.sortLayerFiles(ctx, l)
	if err != nil {
		return w, err
	}
	var old []string
	for _, name := range names {
		if _, err := l.Tree.Lstat(name); err != nil {
			w.Added = append(w.Added, name)
		} else {
			old = append(old, name)
		}
	}
	w.Changed, err = l.DifferingNames(old)
	return w, err
}

func (s *gateStage) openLayer() (sandbox.OverlayLayer, func(), error) {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return sandbox.OverlayLayer{}, nil, err
	}
	return sandbox.OverlayLayer{Dir: s.over, Tree: root}, func() { _ = root.Close() }, nil // read-only
}

// sortLayerFiles splits the files in an overlay into ignored files and the rest. Without git, new files
// count as ignored.
func (s *gateStage) sortLayerFiles(ctx context.Context, l sandbox.OverlayLayer) (rest, ignored []string, err error) {
	names, err := l.ListNames()
	if err != nil || len(names) == 0 {
		return nil, nil, err
	}
	repo := s.look().repo
	if repo.Dir == "" {
		for _, name := range names {
			if _, err := l.Tree.Lstat(name); err == nil {
				rest = append(rest, name)
			} else {
				ignored = append(ignored, name)
			}
		}
		return rest, ignored, nil
	}
	var ask strings.Builder
	for _, name := range names {
		ask.WriteString("./" + name + "\x00") // a name that begins with a colon is a name
	}
	out, err := repo.RunWithInput(ctx, strings.NewReader(ask.String()), "check-ignore", "-z", "--stdin")
	if x, ok := errors.AsType[*git.ExitError](err); err != nil && !ok {
		return nil, nil, err
	} else if ok && x.Status != 1 { // such as a name within a submodule: none counts as ignored
		return names, nil, nil
	}
	yes := map[string]bool{}
	for name := range strings.SplitSeq(out, "\x00") {
		yes[strings.TrimPrefix(name, "./")] = true
	}
	for _, name := range names {
		if yes[name] {
			ignored = append(ignored, name)
		} else {
			rest = append(rest, name)
		}
	}
	return rest, ignored, nil
}
