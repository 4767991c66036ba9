//go:build !linux

package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"sync"
	"time"
)

// commandPipeReader starts a command and reads its pipes.
type commandPipeReader struct {
	ours, theirs []*os.File
	got          []func([]byte)
	reading      sync.WaitGroup
	one          sync.Mutex // serializes the callbacks
}

// addOutputPipe adds a pipe and returns the end for the command.
func (a *commandPipeReader) addOutputPipe(got func([]byte)) (*os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("open pipe: %w", err)
	}
	a.ours, a.theirs, a.got = append(a.ours, r), append(a.theirs, w), append(a.got, got)
	return w, nil
}

func (a *commandPipeReader) startCommand(cmd *exec.Cmd) (ended int, err error) {
	err = cmd.Start()
	for _, f := range a.theirs {
		_ = f.Close()
	}
	a.theirs = nil
	if err != nil {
		return -1, err
	}
	for i, r := range a.ours {
		a.reading.Go(func() { a.read(r, a.got[i]) })
	}
	return 0, nil
}

func (a *commandPipeReader) read(r *os.File, got func([]byte)) {
	buf := make([]byte, 32<<10)
	for {
		n, err := r.Read(buf)
		a.one.Lock()
		got(buf[:n])
		a.one.Unlock()
		if err != nil {
			return
		}
	}
}

// readUntilExit does nothing: goroutines read the pipes.
func (a *commandPipeReader) readUntilExit(int, func()) {}

// drainPipes reads the rest, up to a time limit.
func (a *commandPipeReader) drainPipes(limit time.Duration) {
	for _, r := range a.ours {
		_ = r.SetReadDeadline(time.Now().Add(limit)) //nolint:forbidigo // a deadline of the kernel's
	}
	a.reading.Wait()
}

func (a *commandPipeReader) close() {
	for _, f := range append(a.ours, a.theirs...) {
		_ = f.Close()
	}
}
