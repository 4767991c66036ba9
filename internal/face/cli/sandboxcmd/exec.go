package sandboxcmd

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/egress"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/files"
)

// ExecOptions are the options of "nexus sandbox exec".
type ExecOptions struct {
	Console *console.Console
	Command sandbox.Command // with its directory, arguments and limits
	Copy    bool            // run it in a copy of the last commit with a private git directory
	Network string          // off; list; or presets and hosts separated by commas
}

// NewExec returns the command "nexus sandbox exec". It calls run with the parsed options; nil runs
// the command.
func NewExec(c *console.Console, run func(context.Context, *ExecOptions) error) *cobra.Command {
	o := &ExecOptions{Console: c}
	if run == nil {
		run = runConfined
	}
	var limits limitFlags
	command := c.Command("exec [--worktree DIR] [--git] [LIMIT...] -- COMMAND [ARG...]", "run a command as an agent's shell would",
		func(ctx context.Context, args []string) error {
			var err error
			if o.Command.Limits, err = limits.parse(); err != nil {
				return err
			}
			o.Command.Args = args
			return run(ctx, o)
		}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeLimit)
	command.Args = console.ArgCount(1, -1)
	f := command.Flags()
	f.StringVar(&o.Command.Dir, "worktree", "", "`DIR` that the command may write to; the working directory if not given")
	f.BoolVar(&o.Copy, "git", false, "run in a copy of the last commit with a private git directory, as agents do; the copy is deleted afterwards")
	f.StringVar(&o.Network, "network", "off", "network `MODE`: off; list, which allows network.allow; or presets and hosts separated by commas")
	f.DurationVar(&o.Command.Timeout, "timeout", 0, "maximum `TIME`, such as 90s; no limit if not given")
	limits.addFlags(command)
	c.SettingFlags(command, "sandbox")
	return command
}

// runConfined runs a command in the sandbox; its streams and exit code are those of the command.
func runConfined(ctx context.Context, o *ExecOptions) (err error) {
	a, c := o.Console, o.Command
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
	c.Env, c.Stdin, c.Cap = sandbox.AgentCommandEnv(), a.In, 64<<20
	if o.Copy {
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
	grant, err := app.CommandEgressGrant(o.Network, settings.Network, app.WorkTreeRoot(here), a.TrustStore(), a.Env)
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
	for _, f := range (files.HiddenPathRules{Show: show}).FindHidden(root).Files {
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
