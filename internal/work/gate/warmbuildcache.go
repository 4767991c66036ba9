package gate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
)

// WarmBuildCache compiles everything that the gates of a tree will need, tests included, into the
// runner's cache without running any of it: other caches may start from a cache that was only
// warmed. If the tree does not compile, that is no error. It reports whether there is anything
// to compile.
func (r GateRunner) WarmBuildCache(ctx context.Context, t JudgedTreeDir) (warmed bool, err error) {
	var all [][]string
	for _, s := range stack.AllStacks() {
		if s.Warms != nil {
			all = append(all, s.Warms(os.DirFS(t.Dir))...)
		}
	}
	if len(all) == 0 {
		return false, nil
	}
	for _, args := range all {
		_, err := r.Box.Run(ctx, sandbox.Command{
			Args: args, Dir: t.Dir, Env: r.Env, Readable: r.Readable, Writable: r.Writable, Timeout: r.Timeout, Mark: r.Mark,
		})
		if errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("warm the build cache: %w", err)
		}
	}
	return true, r.resetTree(ctx, true)
}

// runCommand runs a command in a tree in the same way as the gate, and keeps its changes of
// the tree.
func (r GateRunner) runCommand(ctx context.Context, t JudgedTreeDir, g QualityGate) (sandbox.Result, error) {
	c := sandbox.Command{
		Args: g.commandInDir(g.Args), Dir: t.Dir, Env: r.Env, Readable: r.Readable, Writable: r.Writable, Timeout: r.gateTimeLimit(g), Cap: 1 << 20, Mark: r.Mark,
	}
	if r.Own != nil {
		s, done, err := r.Own(g)
		if err != nil {
			return sandbox.Result{}, err
		}
		c.Env, c.Readable, c.Writable = s.Env, s.Readable, s.Writable
		defer func() { _ = done() }() // it is removed with its tree
	}
	return r.Box.Run(ctx, c)
}

// toolVersions returns the versions of the tools that a gate depends on, or "" if they are
// unknown.
func (r GateRunner) toolVersions(ctx context.Context, t JudgedTreeDir, g QualityGate) string {
	version := func(args ...string) string {
		return r.Versions.VersionOf(r.Env, args, func(args []string) ([]byte, bool) {
			res, err := r.Box.Run(ctx, sandbox.Command{Args: args, Dir: t.Dir, Env: r.Env, Readable: r.Readable, Mark: r.Mark})
			return res.Stdout, err == nil && res.Exit == 0
		})
	}
	f, _ := stack.OutputFormats().FindFormat(g.Format)
	var said []string
	for _, command := range f.Versions {
		if v := version(strings.Fields(command)...); v != "" || len(f.Versions) > 1 {
			said = append(said, v)
		}
	}
	return strings.TrimPrefix(strings.Join(said, "; "), "; ")
}
