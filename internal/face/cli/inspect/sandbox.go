package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config/kind"
	"github.com/nexus-ai-builder/nexus/internal/sys/egress"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/files"
)

func sandboxCommand(a *console.Console) *cobra.Command {
	var mode string
	var own bool
	var c sandbox.Command
	var limits boundFlags
	exec := a.Command("exec [--worktree DIR] [--git] [LIMIT...] -- COMMAND [ARG...]", "run a command as an agent's shell would", func(ctx context.Context, args []string) error {
		var err error
		if c.Limits, err = limits.parse(); err != nil {
			return err
		}
		c.Args = args
		return runConfined(ctx, a, c, mode, own)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeLimit)
	exec.Args = console.ArgCount(1, -1)
	exec.Flags().StringVar(&c.Dir, "worktree", "", "`DIR` that the command may write to; the working directory if not given")
	exec.Flags().BoolVar(&own, "git", false, "run in a copy of the last commit with a private git directory, as agents do; the copy is deleted afterwards")
	exec.Flags().StringVar(&mode, "network", "off", "network `MODE`: off; list, which allows network.allow and network.presets; or presets and hosts separated by commas")
	exec.Flags().DurationVar(&c.Timeout, "timeout", 0, "maximum `TIME`, such as 90s; no limit if not given")
	limits.addFlags(exec)
	a.SettingFlags(exec, "sandbox")
	return a.ParentCommand("sandbox", "run commands in the sandbox", exec)
}

// boundFlags are the flags that limit a command's resources.
type boundFlags struct {
	memory, fileSize, disk, tmp string
	processes, files            int
	cpu                         time.Duration
}

func (b *boundFlags) addFlags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&b.memory, "memory", "", "maximum memory of all its processes, as a `SIZE` such as 512M or 2G")
	f.DurationVar(&b.cpu, "cpu", 0, "maximum processor `TIME` of all its processes, such as 90s")
	f.IntVar(&b.processes, "processes", 0, "maximum number `N` of processes and threads")
	f.StringVar(&b.fileSize, "file-size", "", "maximum `SIZE` of a file")
	f.IntVar(&b.files, "open-files", 0, "maximum number `N` of open files per process")
	f.StringVar(&b.disk, "disk", "", "maximum `SIZE` that it may add to the disk")
	f.StringVar(&b.tmp, "tmp", "", "maximum `SIZE` of its private /tmp")
}

// parse returns the limits; zero for a missing flag, which means the default.
func (b *boundFlags) parse() (l sandbox.ResourceLimits, err error) {
	if b.processes < 0 || b.files < 0 {
		return l, invalidSizeError(strconv.Itoa(min(b.processes, b.files)))
	}
	if b.cpu < 0 {
		return l, invalidSizeError(b.cpu.String())
	}
	l.Processes, l.OpenFiles, l.CPU = b.processes, b.files, b.cpu
	for _, x := range []struct {
		text string
		to   *int64
	}{{b.memory, &l.Memory}, {b.fileSize, &l.FileSize}, {b.disk, &l.Disk}, {b.tmp, &l.Tmp}} {
		if *x.to, err = parseSize(x.text); err != nil {
			return l, err
		}
	}
	return l, nil
}

// parseSize parses a number of bytes with a unit of K, M, G or T; 0 for no text.
func parseSize(text string) (int64, error) {
	if text == "" {
		return 0, nil
	}
	n, err := kind.ParseSize(text)
	if err != nil || n == 0 {
		return 0, invalidSizeError(text)
	}
	return n, nil
}

func invalidSizeError(text string) error {
	return &nexus.Error{
		Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("%q is not a valid limit", text),
		Hint: "Give a number of bytes above 0, or one with K, M, G or T.",
	}
}

// runConfined runs a command in the sandbox; its streams and exit code are those of the command.
func runConfined(ctx context.Context, a *console.Console, c sandbox.Command, mode string, own bool) (err error) {
	settings, _, err := a.LoadSettings()
	if err != nil {
		return err
	}
	box, err := app.FindSandbox(ctx, settings)
	if err != nil {
		return err
	}
	if c.Dir == "" {
		c.Dir, err = a.WorkDir()
	} else {
		c.Dir, err = filepath.Abs(c.Dir)
	}
	if err != nil {
		return err
	}
	c.Env, c.Stdin, c.Cap = sandbox.QuietEnv(), a.In, 64<<20
	if own {
		discard, failed := useCheckoutCopy(ctx, &c, box, settings.Policy.Show)
		if failed != nil {
			return failed
		}
		defer func() { err = errors.Join(err, discard()) }()
	}
	here, err := a.WorkDir()
	if err != nil {
		return err
	}
	grant, err := app.GrantFor(mode, settings.Network, app.WorkTreeRoot(here), a.TrustStore(), a.Env)
	if err != nil {
		return err
	}
	if grant != nil {
		way := grant.NewGateway()
		c.Proxy, c.Local, c.Env = way.Serve, way.LocalPortServers(), way.ProxyEnv(c.Env, box.HidesHost())
		// Ignored if standard error is closed.
		defer func() { _, _ = io.WriteString(a.Err, egress.RefusalText(way.TakeDecisions())) }()
	}
	r, err := box.Run(ctx, c)
	if _, outErr := a.Out.Write(r.Stdout); err == nil {
		err = outErr
	}
	if _, errErr := a.Err.Write(r.Stderr); err == nil {
		err = errErr
	}
	switch {
	case err != nil:
	case r.TimedOut:
		return limitExceededError("time")
	case r.Over != "":
		return limitExceededError(string(r.Over))
	}
	if err == nil && r.Exit != 0 {
		err = console.ExitError(r.Exit)
	}
	return err
}

// useCheckoutCopy lets the command run in a copy of the repository's last commit, in the same directory,
// made as for an attempt: with a writable git directory of its own, and read access to all
// commits. The returned function deletes the copy.
func useCheckoutCopy(ctx context.Context, c *sandbox.Command, box *sandbox.Box, show []string) (discard func() error, _ error) {
	user, err := git.FindRepo(ctx, c.Dir)
	if err != nil {
		return nil, err
	}
	head, err := user.RunLine(ctx, "rev-parse", "HEAD")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "nexus-try-")
	if err != nil {
		return nil, &nexus.Error{
			Code: nexus.CodeStorage, Message: "make a directory", Cause: err,
			Hint: "Set TMPDIR to a writable directory.",
		}
	}
	gone := func() error { return os.RemoveAll(dir) }
	trees, err := worktree.OpenStore(ctx, user, dir)
	if err != nil {
		return nil, errors.Join(err, gone())
	}
	trees.Hides = app.HiddenFilesRule()
	tree, err := trees.AddTree(ctx, "try", "T1.1", head)
	if err != nil {
		return nil, errors.Join(err, trees.Close(), gone())
	}
	c.Dir, c.Writable, c.Readable = tree.Dir, append(c.Writable, tree.Git), append(c.Readable, tree.ReadablePaths()...)
	if !box.HidesHost() {
		c.Tmp = tree.Tmp
	}
	if err := hideFiles(c, show); err != nil {
		return nil, errors.Join(err, tree.Remove(context.WithoutCancel(ctx)), trees.Close(), gone())
	}
	return func() error {
		return errors.Join(tree.Remove(context.WithoutCancel(ctx)), trees.Close(), gone())
	}, nil
}

// hideFiles hides the files from the command that are hidden from agents.
func hideFiles(c *sandbox.Command, show []string) error {
	root, err := os.OpenRoot(c.Dir)
	if err != nil {
		return err
	}
	for _, f := range (files.HiddenRules{Show: show}).FindHidden(root).Files {
		c.Hidden = append(c.Hidden, filepath.Join(c.Dir, filepath.FromSlash(f.Name)))
	}
	return root.Close()
}

func limitExceededError(what string) error {
	return &nexus.Error{
		Code: nexus.CodeLimit, Message: "killed: it exceeded its limit of " + what,
		Hint: "Raise the limit with a flag, or find out why it needs so much.",
	}
}
