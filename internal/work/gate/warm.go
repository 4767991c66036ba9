package gate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/gosrc"
	"github.com/nexus-ai-builder/nexus/internal/stack/read"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
)

// Warm compiles everything that the Go gates of a tree will need, tests
// included, into the runner's cache without running any of it: a cache that
// was only warmed may be the seed of others. That the tree does not compile
// is no error. It reports whether there is anything of Go.
func (r Runner) Warm(ctx context.Context, t Tree) (warmed bool, err error) {
	at := gosrc.Patterns(os.DirFS(t.Dir), ".")
	if at == nil {
		return false, nil
	}
	for _, args := range [][]string{{"go", "vet"}, {"go", "test", "-count=1", "-exec=true"}, {"go", "build"}} {
		_, err := r.Box.Run(ctx, sandbox.Command{
			Args: append(args, at...), Dir: t.Dir, Env: r.Env, Readable: r.Readable, Writable: r.Writable, Timeout: r.Timeout, Mark: r.Mark,
		})
		if errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("warm the build cache: %w", err)
		}
	}
	return true, r.reset(ctx, true)
}

// do runs a command in a tree as the gate would be run, and leaves in the tree
// what it did there.
func (r Runner) do(ctx context.Context, t Tree, g Gate) (sandbox.Result, error) {
	c := sandbox.Command{
		Args: g.within(g.Args), Dir: t.Dir, Env: r.Env, Readable: r.Readable, Writable: r.Writable, Timeout: r.limit(g), Cap: 1 << 20, Mark: r.Mark,
	}
	if r.Own != nil {
		s, done, err := r.Own(g)
		if err != nil {
			return sandbox.Result{}, err
		}
		c.Env, c.Readable, c.Writable = s.Env, s.Readable, s.Writable
		defer func() { _ = done() }() // swept with its tree
	}
	return r.Box.Run(ctx, c)
}

// toolchain returns the versions of the tools that a gate depends on, empty
// where they are not known.
func (r Runner) toolchain(ctx context.Context, t Tree, g Gate) string {
	version := func(args ...string) string {
		return r.Versions.Of(r.Env, args, func(args []string) ([]byte, bool) {
			res, err := r.Box.Run(ctx, sandbox.Command{Args: args, Dir: t.Dir, Env: r.Env, Readable: r.Readable, Mark: r.Mark})
			return res.Stdout, err == nil && res.Exit == 0
		})
	}
	switch g.Format {
	case read.GoBuild, read.GoVet, read.GoTestJSON, read.GoFmt:
		return version("go", "version")
	case read.GolangCI:
		return strings.TrimPrefix(version("go", "version")+"; "+version("golangci-lint", "version"), "; ")
	default:
		return ""
	}
}
