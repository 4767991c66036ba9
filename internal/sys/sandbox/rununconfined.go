package sandbox

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/proc"
)

// boxHomePrefix is the name prefix of a box's own directory outside of the worktree; see package proc.
const boxHomePrefix = "nexus-box-"

// runUnconfined runs a command unconfined. All processes that have its mark, or belong to its session,
// are killed at the end; a process that both left the session and cleared its environment escapes,
// which only a box prevents. If this process is killed the command dies with it, and processes
// that it had started remain until [Sweep] is called.
func runUnconfined(ctx context.Context, c Command) (Result, error) {
	runtime.LockOSThread() // the command dies with the thread that started it; see runBwrap
	defer runtime.UnlockOSThread()

	path, err := findProgram(c)
	if err != nil {
		return Result{}, err
	}
	tmp := c.Tmp
	if tmp == "" {
		if tmp, err = proc.MakeTempDir(boxHomePrefix); err != nil {
			return Result{}, fmt.Errorf("make a home: %w", err)
		}
		defer func() { _ = os.RemoveAll(tmp) }()
	}
	home := filepath.Join(tmp, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return Result{}, fmt.Errorf("make a home: %w", err)
	}
	var a commandPipeReader
	defer a.close()
	mark := newProcessMark(c.Mark)
	cmd := exec.Command(path, c.Args[1:]...) //nolint:noctx // the whole tree is killed below, not one process
	cmd.Args[0] = c.Args[0]
	cmd.Dir = c.Dir
	cmd.Env = append(c.environ(home, mark), "TMPDIR="+tmp)
	o, w := newOutputCapture(c), newLimitWatch(c)
	began, ended, err := o.startCommand(&a, cmd, c.Stdin)
	if err != nil {
		return Result{}, fmt.Errorf("start %s: %w", c.Args[0], err)
	}
	w.began, w.kill = began, func() { proc.KillGroup(cmd.Process) }
	w.use = func() (proc.ResourceUsage, bool) {
		return proc.DescendantUsage(cmd.Process.Pid, c.Limits.CPU > 0), true
	}
	stop := context.AfterFunc(ctx, w.kill)
	a.readUntilExit(ended, w.killIfOver)
	_ = cmd.Wait() // the process state has the result
	stop()
	r := Result{Duration: time.Since(began)}
	a.drainPipes(gracePeriod(proc.KillCommandProcesses(cmd.Process.Pid, mark, r.Duration)))
	o.fillResult(&r)
	if w.finishGroup(ctx, nil, &r) {
		return r, nil
	}
	if ctx.Err() != nil {
		return killedResult(ctx, r)
	}
	r.Exit = proc.ShellExitCode(cmd.ProcessState)
	return r, nil
}

// newProcessMark returns a mark that is unique to one run of a command.
func newProcessMark(owner string) string {
	if owner == "" {
		owner = "nexus"
	}
	return owner + "/" + rand.Text()
}
