package gate

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/gosrc"
	"github.com/nexus-ai-builder/nexus/internal/stack/read"
	"github.com/nexus-ai-builder/nexus/internal/sys/gocache"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/usercache"
)

// Caches gives the commands of a tree their own caches over shared ones, which they read and
// cannot write: tests stay fast, and the builds of one attempt reach no other attempt, nor its
// own gates.
type Caches struct {
	Exe    string   // this program, which builds call for their cache; empty: none
	State  string   // directory of the repository's state
	Shared []string // build caches of the user
	User   usercache.User
}

// Warm returns the directory of the builds of bases, which were compiled without running any
// of their code: no agent's code influenced it, so every build may start from it.
func (c Caches) Warm() string { return filepath.Join(c.State, "gocache") }

// Own returns the caches of one gate on the tree at tree, below dir. Results of go build and
// go vet are kept for later gates: they run no code of the tree. Every other gate may run an
// agent's code, so it reads this cache and writes to caches that are deleted when it ends.
// Linters keep their results for later linters.
func (c Caches) Own(tree, dir string, g Gate) (Setup, func() error, error) {
	build := filepath.Join(dir, "own")
	switch g.Format {
	case read.GoBuild, read.GoVet:
		setup, err := c.Go(tree, dir, build)
		return setup, func() error { return nil }, err
	case read.GolangCI:
		lint := filepath.Join(dir, "lint")
		if err := gocache.CreateDir(filepath.Join(lint, stack.GolangciCache)); err != nil {
			return Setup{}, nil, err
		}
		setup, err := c.Go(tree, lint, filepath.Join(lint, "own"), build)
		return setup, func() error { return nil }, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Setup{}, nil, err
	}
	once, err := os.MkdirTemp(filepath.Dir(dir), "once-")
	if err != nil {
		return Setup{}, nil, err
	}
	setup, err := c.Go(tree, once, filepath.Join(once, "own"), build)
	if err == nil {
		setup, err = c.show(setup, filepath.Join(once, "fetched"), stack.Words(g.Args))
	}
	return setup, func() error {
		if err := usercache.UnmountStores(filepath.Join(once, "fetched")); err != nil {
			return err
		}
		return os.RemoveAll(once)
	}, err
}

// Shell returns the caches of an agent's own commands, which use programs like those of the
// gates.
func (c Caches) Shell(tree, dir string, words []string) (Setup, error) {
	setup, err := c.Go(tree, dir, filepath.Join(dir, "own"))
	if err != nil {
		return setup, err
	}
	setup.Env = append(setup.Env, sandbox.QuietVars()...)
	return c.show(setup, filepath.Join(dir, "fetched"), words)
}

// show adds the caches of the user's tools.
func (c Caches) show(setup Setup, dir string, words []string) (Setup, error) {
	s, err := c.User.MountStores(dir, words)
	setup.Env, setup.Writable = append(setup.Env, s.Env...), append(setup.Writable, s.Writable...)
	return setup, err
}

// Go prepares the Go tools for a tree with its own caches below dir, the build cache in own.
// The caches of other builds, of the user, and of the gates of the base are read and not
// written.
func (c Caches) Go(tree, dir, own string, others ...string) (Setup, error) {
	// elsewhere the go command is rare, and creates the directories itself
	if gosrc.IsGoTree(os.DirFS(tree)) {
		if err := gocache.CreateDir(filepath.Join(dir, stack.GoBuildCache)); err != nil {
			return Setup{}, err
		}
	}
	setup, err := Prepare(tree, dir)
	if err != nil || c.Exe == "" {
		return setup, err
	}
	shared := slices.Concat(others, []string{filepath.Join(c.Warm(), "own")}, c.Shared)
	setup.Env = append(setup.Env, "GOCACHEPROG="+gocache.Program(c.Exe, own, shared...))
	setup.Readable = append(setup.Readable, c.Exe)
	for _, dir := range shared {
		if _, err := os.Stat(dir); err == nil {
			setup.Readable = append(setup.Readable, dir)
		}
	}
	return setup, nil
}
