package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/proc"
)

// pipeReadEnd is our reading end of a pipe.
type pipeReadEnd struct {
	fd  int // -1 at its end
	got func([]byte)
}

// commandPipeReader starts a command and reads its pipes. It works in the calling thread without
// goroutines: on a busy machine each thread switch costs more than the rest.
type commandPipeReader struct {
	sources []pipeReadEnd
	theirs  []*os.File // the command's ends
	buf     []byte
}

// addOutputPipe adds a pipe and returns the end for the command.
func (a *commandPipeReader) addOutputPipe(got func([]byte)) (*os.File, error) {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC); err != nil {
		return nil, fmt.Errorf("open pipe: %w", err)
	}
	f := os.NewFile(uintptr(p[1]), "pipe")
	a.sources = append(a.sources, pipeReadEnd{p[0], got})
	a.theirs = append(a.theirs, f)
	return f, nil
}

// startCommand starts the command, and returns a descriptor that becomes readable when it ends.
func (a *commandPipeReader) startCommand(cmd *exec.Cmd) (ended int, err error) {
	err = cmd.Start()
	for _, f := range a.theirs {
		_ = f.Close()
	}
	a.theirs = nil
	if err != nil {
		return -1, err
	}
	if ended, err = unix.PidfdOpen(cmd.Process.Pid, 0); err != nil {
		proc.KillGroup(cmd.Process)
		_ = cmd.Wait()
		return -1, fmt.Errorf("watch process (Linux 5.3 or later is needed): %w", err)
	}
	return ended, nil
}

// readUntilExit reads until the command has ended, and calls look periodically.
func (a *commandPipeReader) readUntilExit(ended int, look func()) {
	defer func() { _ = unix.Close(ended) }()
	if look == nil {
		look = func() {}
	}
	next := time.Now().Add(limitCheckInterval) //nolint:forbidigo // waits for the kernel
	for {
		left := max(time.Until(next).Milliseconds(), 0)
		if a.pollPipes(ended, int(left)) {
			return
		}
		if left == 0 {
			look()
			next = time.Now().Add(limitCheckInterval) //nolint:forbidigo // waits for the kernel
		}
	}
}

// drainPipes reads the rest, up to a time limit.
func (a *commandPipeReader) drainPipes(limit time.Duration) {
	until := time.Now().Add(limit) //nolint:forbidigo // waits for the kernel
	for a.hasOpenPipe() {
		left := time.Until(until)
		if left < 0 {
			return
		}
		a.pollPipes(-1, int(left.Milliseconds())+1)
	}
}

func (a *commandPipeReader) hasOpenPipe() bool {
	for _, s := range a.sources {
		if s.fd >= 0 {
			return true
		}
	}
	return false
}

// pollPipes waits for output, reads it, and reports whether the command has ended.
func (a *commandPipeReader) pollPipes(ended, wait int) bool {
	fds := make([]unix.PollFd, 0, 8)
	for _, s := range a.sources {
		fds = append(fds, unix.PollFd{Fd: int32(s.fd), Events: unix.POLLIN})
	}
	fds = append(fds, unix.PollFd{Fd: int32(ended), Events: unix.POLLIN})
	if _, err := unix.Poll(fds, wait); err != nil {
		return err != unix.EINTR
	}
	if a.buf == nil {
		a.buf = make([]byte, 64<<10)
	}
	for i := range a.sources {
		if s := &a.sources[i]; fds[i].Revents != 0 && s.fd >= 0 {
			n, err := unix.Read(s.fd, a.buf)
			if n > 0 {
				s.got(a.buf[:n])
			} else if err != unix.EINTR {
				_ = unix.Close(s.fd)
				s.fd = -1
			}
		}
	}
	return fds[len(fds)-1].Revents != 0
}

func (a *commandPipeReader) close() {
	for _, s := range a.sources {
		if s.fd >= 0 {
			_ = unix.Close(s.fd)
		}
	}
	for _, f := range a.theirs {
		_ = f.Close()
	}
}
