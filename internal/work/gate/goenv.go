package gate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/parse"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/stack"
)

// Setup is what the Go tools need besides the tree.
type Setup struct {
	Env                []string
	Readable, Writable []string
}

// GoEnv prepares the Go tools for a tree: no network, no other toolchain, no
// change of go.mod, and every cache in the directory cache, which it creates.
//
// A build cache is trusted blindly by the go command, and a test may write
// wherever a gate may. So cache must belong to the gates of one attempt, or
// one landing, alone: not to the agent's own shell, and not to the next
// attempt. [Seed] makes a fresh one fast.
func GoEnv(dir, cache string) (Setup, error) {
	build, lint := filepath.Join(cache, "go-build"), filepath.Join(cache, "golangci")
	for _, d := range []string{build, lint} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return Setup{}, fmt.Errorf("go caches: %w", err)
		}
	}
	mod := "-mod=readonly"
	if isFile(filepath.Join(dir, "vendor", "modules.txt")) && !isFile(filepath.Join(dir, "go.work")) {
		mod = "-mod=vendor"
	}
	return Setup{
		Env: sandbox.Env(
			"GOFLAGS="+mod+" -buildvcs=false", "GOPROXY=off", "GOTOOLCHAIN=local", "GOENV=off", "GOTELEMETRY=off",
			"GOCACHE="+build, "GOLANGCI_LINT_CACHE="+lint,
		),
		Readable: stack.System(), Writable: []string{cache},
	}, nil
}

// Seed copies the build cache of one cache directory of [GoEnv] into another;
// one that is there already stays as it is. It copies bytes and makes no
// links, so nothing that is later written to the one can be read from the
// other.
func Seed(from, to string) error {
	source, err := os.OpenRoot(filepath.Join(from, "go-build"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("seed the build cache: %w", err)
	}
	defer func() { _ = source.Close() }() // only read
	whole := filepath.Join(to, "go-build")
	if have, err := os.ReadDir(whole); err == nil && len(have) > 0 {
		return nil
	}
	if err := os.MkdirAll(to, 0o700); err != nil {
		return fmt.Errorf("seed the build cache: %w", err)
	}
	target, err := os.MkdirTemp(to, "seed-") // half a copy is never taken for a whole one
	if err != nil {
		return fmt.Errorf("seed the build cache: %w", err)
	}
	defer func() { _ = os.RemoveAll(target) }() // only there when the copy failed
	err = fs.WalkDir(source.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name == "fuzz":
			return fs.SkipDir
		case d.IsDir():
			return os.MkdirAll(filepath.Join(target, name), 0o700)
		case d.Type().IsRegular():
			return copyFile(source, name, filepath.Join(target, name))
		default:
			return nil
		}
	})
	if err == nil {
		_ = os.Remove(whole) // GoEnv leaves an empty one; if it cannot go, the rename says so
		err = os.Rename(target, whole)
	}
	if err != nil {
		return fmt.Errorf("seed the build cache: %w", err)
	}
	return nil
}

func copyFile(from *os.Root, name, to string) error {
	in, err := from.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // only read
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		_ = out.Close() // the copy failed already
		return err
	}
	return out.Close()
}

// Warm compiles everything that the Go gates of a tree will need, tests
// included, into the runner's cache without running any of it: a cache that
// was only warmed may be the seed of others. That the tree does not compile
// is no error.
func (r Runner) Warm(ctx context.Context, t Tree) error {
	at := goPackages(t.Dir)
	if at == nil {
		return nil
	}
	for _, args := range [][]string{{"go", "vet"}, {"go", "test", "-count=1", "-exec=true"}, {"go", "build"}} {
		_, err := r.Box.Run(ctx, sandbox.Command{
			Args: append(args, at...), Dir: t.Dir, Env: r.Env, Readable: r.Readable, Writable: r.Writable, Timeout: r.Timeout, Mark: r.Mark,
		})
		if errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("warm the build cache: %w", err)
		}
	}
	return r.reset(ctx, true)
}

// Versions remembers which version of a tool a PATH leads to. It may be used
// by many goroutines.
type Versions struct {
	mu   sync.Mutex // guards seen
	seen map[string]string
}

// toolchain returns the versions of the tools that a gate depends on, empty
// where they are not known.
func (r Runner) toolchain(ctx context.Context, t Tree, g Gate) string {
	switch g.Format {
	case parse.GoBuild, parse.GoVet, parse.GoTestJSON, parse.GoFmt:
		return r.version(ctx, t, "go", "version")
	case parse.GolangCI:
		return strings.TrimPrefix(r.version(ctx, t, "go", "version")+"; "+r.version(ctx, t, "golangci-lint", "version"), "; ")
	default:
		return ""
	}
}

func (r Runner) version(ctx context.Context, t Tree, args ...string) string {
	key := strings.Join(args, " ")
	for _, e := range r.Env {
		if strings.HasPrefix(e, "PATH=") || strings.HasPrefix(e, "GOROOT=") {
			key += "\x00" + e
		}
	}
	if r.Versions != nil {
		r.Versions.mu.Lock()
		defer r.Versions.mu.Unlock()
		if v, ok := r.Versions.seen[key]; ok {
			return v
		}
	}
	res, err := r.Box.Run(ctx, sandbox.Command{Args: args, Dir: t.Dir, Env: r.Env, Readable: r.Readable, Mark: r.Mark})
	if err != nil || res.Exit != 0 {
		return "" // the gate itself will say why
	}
	v, _, _ := strings.Cut(strings.TrimSpace(string(res.Stdout)), "\n")
	v, _, _ = strings.Cut(strings.TrimPrefix(v, "go version "), " built with ")
	if r.Versions != nil {
		if r.Versions.seen == nil {
			r.Versions.seen = map[string]string{}
		}
		r.Versions.seen[key] = v
	}
	return v
}
