package gate

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/gosource"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/sys/gocache"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/userpackagecache"
)

// GateCaches gives the commands of a tree their own caches over shared ones, which they read and
// cannot write: tests stay fast, and the builds of one attempt reach no other attempt, nor its
// own gates.
type GateCaches struct {
	Exe    string   // this program, which builds call for their cache; empty: none
	State  string   // directory of the repository's state
	Shared []string // build caches of the user
	User   userpackagecache.CacheOwner
}

// WarmBuildCache returns the directory of the builds of bases, which were compiled without running any
// of their code: no agent's code influenced it, so every build may start from it.
func (c GateCaches) WarmBuildCache() string { return filepath.Join(c.State, "gocache") }

// CachesForGate returns the caches of one gate on the tree at tree, below dir. Results of go build and
// go vet are kept for later gates: they run no code of the tree. Every other gate may run an
// agent's code, so it reads this cache and writes to caches that are deleted when it ends.
// Linters keep their results for later linters.
func (c GateCaches) CachesForGate(tree, dir string, g QualityGate) (ToolRequirements, func() error, error) {
	build := filepath.Join(dir, "own")
	switch g.Format {
	case outputparser.GoBuild, outputparser.GoVet:
		setup, err := c.PrepareGoCaches(tree, dir, build)
		return setup, func() error { return nil }, err
	case outputparser.GolangCI:
		lint := filepath.Join(dir, "lint")
		if err := gocache.CreateBuildCacheDir(filepath.Join(lint, stack.GolangciCache)); err != nil {
			return ToolRequirements{}, nil, err
		}
		setup, err := c.PrepareGoCaches(tree, lint, filepath.Join(lint, "own"), build)
		return setup, func() error { return nil }, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return ToolRequirements{}, nil, err
	}
	once, err := os.MkdirTemp(filepath.Dir(dir), "once-")
	if err != nil {
		return ToolRequirements{}, nil, err
	}
	setup, err := c.PrepareGoCaches(tree, once, filepath.Join(once, "own"), build)
	if err == nil {
		setup, err = c.addUserCaches(setup, filepath.Join(once, "fetched"), stack.CommandWords(g.Args))
	}
	return setup, func() error {
		if err := userpackagecache.UnmountStores(filepath.Join(once, "fetched")); err != nil {
			return err
		}
		return os.RemoveAll(once)
	}, err
}

// CachesForShell returns the caches of an agent's own commands, which use programs like those of the
// gates.
func (c GateCaches) CachesForShell(tree, dir string, words []string) (ToolRequirements, error) {
	setup, err := c.PrepareGoCaches(tree, dir, filepath.Join(dir, "own"))
	if err != nil {
		return setup, err
	}
	setup.Env = append(setup.Env, sandbox.NoPagingVars()...)
	return c.addUserCaches(setup, filepath.Join(dir, "fetched"), words)
}

// addUserCaches adds the caches of the user's tools.
func (c GateCaches) addUserCaches(setup ToolRequirements, dir string, words []string) (ToolRequirements, error) {
	s, err := c.User.MountStores(dir, words)
	setup.Env, setup.Writable = append(setup.Env, s.Env...), append(setup.Writable, s.Writable...)
	return setup, err
}

// PrepareGoCaches prepares the Go tools for a tree with its own caches below dir, the build cache in own.
// The caches of other builds, of the user, and of the gates of the base are read and not
// written.
func (c GateCaches) PrepareGoCaches(tree, dir, own string, others ...string) (ToolRequirements, error) {
	// elsewhere the go command is rare, and creates the directories itself
	if gosource.IsGoTree(os.DirFS(tree)) {
		if err := gocache.CreateBuildCacheDir(filepath.Join(dir, stack.GoBuildCache)); err != nil {
			return ToolRequirements{}, err
		}
	}
	setup, err := PrepareGoTools(tree, dir)
	if err != nil || c.Exe == "" {
		return setup, err
	}
	shared := slices.Concat(others, []string{filepath.Join(c.WarmBuildCache(), "own")}, c.Shared)
	setup.Env = append(setup.Env, "GOCACHEPROG="+gocache.CacheProgCommand(c.Exe, own, shared...))
	setup.Readable = append(setup.Readable, c.Exe)
	for _, dir := range shared {
		if _, err := os.Stat(dir); err == nil {
			setup.Readable = append(setup.Readable, dir)
		}
	}
	return setup, nil
}
