package check

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

// stage is the place in which gates judge a working tree without changing it: the tree itself
// under an overlay that receives their writes, or a copy.
type stage struct {
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
func newStage(ctx context.Context, box *sandbox.Box, look func() treeSnapshot, dir, cache string, alike bool) (*stage, error) {
	s := &stage{dir: dir, from: dir, base: alike, look: look}
	if !alike {
		if ok, err := s.layered(ctx, box, cache); ok || err != nil {
			return s, err
		}
	}
	at, release, err := place(cache, "copy")
	if err != nil {
		return nil, err
	}
	s.done = func() { _ = os.RemoveAll(at); release() } // a copy
	s.dir = filepath.Join(at, "tree")
	if err := s.copied(ctx, at, alike); err != nil {
		s.done()
		return nil, fmt.Errorf("copy the working tree: %w", err)
	}
	return s, nil
}

// staged creates a stage, and a runner for it.
func staged(ctx context.Context, a *console.Console, own gate.Runner, box *sandbox.Box, look func() treeSnapshot, dir, cache string, settings config.Config, alike bool) (*stage, gate.Runner, error) {
	s, err := newStage(ctx, box, look, dir, outsideOf(dir, cache), alike)
	if err != nil {
		return nil, own, err
	}
	r, err := s.runner(a, own, box, cache, settings)
	if err != nil {
		s.done()
	}
	return s, r, err
}

// place returns an empty directory that no other process uses. It is the same each time unless
// another process has it, because compiler caches contain its name.
func place(cache, name string) (dir string, release func(), err error) {
	mine, err := portslot.Take(filepath.Join(cache, "places"), name)
	if err != nil {
		return "", nil, err
	}
	dir = filepath.Join(cache, name+"-"+strconv.Itoa(mine.N))
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(dir, 0o700)); err != nil {
		return "", nil, errors.Join(err, mine.Release())
	}
	return dir, func() { _ = mine.Release() }, nil
}

// layered puts an overlay over the working tree, and reports false if that does not work here.
// Mounts within the tree would not be visible through it.
func (s *stage) layered(ctx context.Context, box *sandbox.Box, cache string) (bool, error) {
	if mountedBelow(s.dir) {
		return false, nil
	}
	over, release, err := place(cache, "layer")
	if err != nil {
		return false, err
	}
	s.done = func() { _ = os.RemoveAll(over); release() } // writes of the gates
	if err := sandbox.MakeLayer(over); err != nil || !box.SupportsLayer(ctx, s.dir, over) {
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

// copied makes the copy: all files that git would commit, and, without a base, also ignored
// files.
func (s *stage) copied(ctx context.Context, at string, alike bool) error {
	if working := s.working(ctx); working != nil {
		user := s.look().repo
		var err error
		if s.copy, err = export(ctx, working.Repo, working.Hash, user, at); err == nil && !alike {
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

// working returns the working tree as stored by git; nil outside a repository, or before the
// first commit.
func (s *stage) working(ctx context.Context) *storedTree {
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

// runner returns a runner for the stage, with the configuration and the quarantine record of the
// working tree's runner.
func (s *stage) runner(a *console.Console, own gate.Runner, box *sandbox.Box, cache string, settings config.Config) (gate.Runner, error) {
	if s.over != "" {
		return s.fit(a, own), nil
	}
	r, err := runner(a, box, s.dir, cache, settings)
	r.Net, r.Quarantine, r.Apart = own.Net, own.Quarantine, own.Apart
	return s.fit(a, r), err
}

// fit configures a runner for the stage.
func (s *stage) fit(a *console.Console, r gate.Runner) gate.Runner {
	if s.over != "" {
		r.Over, r.Reset, r.Wrote = s.over, s.clear, s.wrote
		return programmed(r, s.dir)
	}
	r.Readable = append(slices.Clone(r.Readable), s.copy.lent...)
	r.Env = append(slices.Clone(r.Env), editableInstalls(s.from, s.dir, s.copy.lent, a.Env("VIRTUAL_ENV"))...)
	r.Ground = s.copy.ground
	if s.copy.repo.Dir != "" {
		r.Wrote = s.copy.wrote
		r.Reset = func(ctx context.Context, bare bool) error { return s.copy.reset(ctx, bare && s.base) }
	}
	return programmed(r, s.dir)
}

// programmed puts the programs of the tree's virtual environments first on a runner's path.
func programmed(r gate.Runner, dir string) gate.Runner {
	setup := gate.Setup{Env: r.Env, Readable: r.Readable, Writable: r.Writable}
	r.Own = func(g gate.Gate) (gate.Setup, func() error, error) {
		own := setup
		own.Env = lentPrograms(dir, g.Dir, setup.Env)
		return own, func() error { return nil }, nil
	}
	return r
}

// clear removes a gate's writes except ignored files. Those remain for the next gates, unless
// bare is set.
func (s *stage) clear(ctx context.Context, bare bool) error {
	l, done, err := s.layer()
	if err != nil {
		return err
	}
	defer done()
	if bare {
		return l.Clear(nil)
	}
	_, keep, err := s.held(ctx, l)
	if err != nil {
		return err
	}
	return l.Clear(keep)
}

// wrote returns the files that a gate wrote.
func (s *stage) wrote(ctx context.Context) (w gate.WrittenFiles, err error) {
	l, done, err := s.layer()
	if err != nil {
		return w, err
	}
	defer done()
	names, _, err := s.held(ctx, l)
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
	w.Changed, err = l.Differs(old)
	return w, err
}

func (s *stage) layer() (sandbox.Layer, func(), error) {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return sandbox.Layer{}, nil, err
	}
	return sandbox.Layer{Dir: s.over, Tree: root}, func() { _ = root.Close() }, nil // read-only
}

// held splits the files in an overlay into ignored files and the rest. Without git, new files
// count as ignored.
func (s *stage) held(ctx context.Context, l sandbox.Layer) (rest, ignored []string, err error) {
	names, err := l.Names()
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
	out, err := repo.RunIn(ctx, strings.NewReader(ask.String()), "check-ignore", "-z", "--stdin")
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
