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

// startCommand starts a command with its output going to o, and returns the start time.
func (o *outputCapture) startCommand(a *commandPipeReader, cmd *exec.Cmd, stdin io.Reader) (began time.Time, ended int, err error) {
	return o.startWithOutput(a, cmd, stdin, proc.NewSessionAttributes())
}

func (o *outputCapture) startWithOutput(a *commandPipeReader, cmd *exec.Cmd, stdin io.Reader, how *syscall.SysProcAttr) (began time.Time, ended int, err error) {
	if o.to != nil {
		cmd.Stdout = o.to
	}
	for _, k := range o.streamKeepers() {
		f, err := a.addOutputPipe(func(p []byte) { o.keepOutput(k, p) })
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
	cmd.WaitDelay = proc.Grace // limit for a reader of ours on stdin that never returns
	began = time.Now()         //nolint:forbidigo // only measures how long it ran
	ended, err = a.startCommand(cmd)
	return began, ended, err
}

// gracePeriod returns how long to read after the command has ended. If a process that could not be
// killed still has a pipe open, waiting is useless.
func gracePeriod(gone bool) time.Duration {
	if gone {
		return proc.Grace
	}
	return 0
}

// killedResult returns Run's result for a killed command.
func killedResult(ctx context.Context, r Result) (Result, error) {
	r.Exit = -1
	if errors.Is(context.Cause(ctx), errTimeout) {
		r.TimedOut = true
		return r, nil
	}
	return r, context.Cause(ctx)
}
