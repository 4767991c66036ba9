package sandbox

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"syscall"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/proc"
)

// start starts a command with its output going to o, and says when.
func (o *outputs) start(a *attendant, cmd *exec.Cmd, stdin io.Reader) (began time.Time, ended int, err error) {
	return o.startAs(a, cmd, stdin, proc.OwnSession())
}

func (o *outputs) startAs(a *attendant, cmd *exec.Cmd, stdin io.Reader, how *syscall.SysProcAttr) (began time.Time, ended int, err error) {
	if o.to != nil {
		cmd.Stdout = o.to
	}
	for _, k := range o.keepers() {
		f, err := a.pipe(func(p []byte) { o.got(k, p) })
		if err != nil {
			return began, -1, err
		}
		if cmd.Stdout == nil {
			cmd.Stdout = f
		}
		cmd.Stderr = f
	}
	cmd.Stdin = stdin
	cmd.SysProcAttr = how
	cmd.WaitDelay = proc.Grace // a reader of ours on stdin that never returns
	began = time.Now()         //nolint:forbidigo // only measures how long it ran
	ended, err = a.start(cmd)
	return began, ended, err
}

// grace is how long to read on when the command has ended. Where somebody who
// could not be killed still holds a pipe there is no waiting.
func grace(gone bool) time.Duration {
	if gone {
		return proc.Grace
	}
	return 0
}

// killedResult is what Run returns when it killed the command.
func killedResult(ctx context.Context, r Result) (Result, error) {
	r.Exit = -1
	if errors.Is(context.Cause(ctx), errTimeout) {
		r.TimedOut = true
		return r, nil
	}
	return r, context.Cause(ctx)
}
