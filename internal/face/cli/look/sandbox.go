package look

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
)

func sandboxCommand(a *frame.App) *cobra.Command {
	var dir, network string
	exec := a.Command("exec [--worktree DIR] -- COMMAND [ARG...]", "run a command as an agent's shell would", func(ctx context.Context, args []string) error {
		if network != "none" {
			return &nexus.Error{
				Code: nexus.CodeInvalidInput, Message: "no network mode " + network,
				Hint: "Agents have no network but their own loopback: use none.",
			}
		}
		return confined(ctx, a, dir, args)
	}, frame.CodeOK, frame.CodeFailed, frame.CodeUsage)
	exec.Args = frame.Takes(1, -1)
	exec.Flags().StringVar(&dir, "worktree", "", "`DIR` that the command may write to; the working directory if not given")
	exec.Flags().StringVar(&network, "network", "none", "`MODE` of the network")
	a.Knobs(exec, "sandbox")
	return a.Parent("sandbox", "run commands confined", exec)
}

// confined runs a command in the sandbox; streams and exit code are its own.
func confined(ctx context.Context, a *frame.App, dir string, args []string) error {
	settings, _, err := a.Settings()
	if err != nil {
		return err
	}
	box, err := sandbox.Find(ctx, sandbox.Mode(settings.Sandbox))
	if err != nil {
		return err
	}
	if dir == "" {
		dir, err = a.WorkDir()
	} else {
		dir, err = filepath.Abs(dir)
	}
	if err != nil {
		return err
	}
	r, err := box.Run(ctx, sandbox.Command{Args: args, Dir: dir, Env: sandbox.Env(), Stdin: a.In, Cap: 64 << 20})
	if _, outErr := a.Out.Write(r.Stdout); err == nil {
		err = outErr
	}
	if _, errErr := a.Err.Write(r.Stderr); err == nil {
		err = errErr
	}
	if err == nil && r.Exit != 0 {
		err = frame.ExitError(r.Exit)
	}
	return err
}
