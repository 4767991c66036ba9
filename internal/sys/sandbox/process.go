package sandbox

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

const (
	exitTime      = time.Second     // time for a program to end after its input
	lastReadTime  = 2 * time.Second // time for output of processes that could not be killed
	endReasonTime = 2 * time.Second // time for a program to die before its end is explained
)

// ErrPipesClosed is the cause if a program was killed because its pipes were closed.
var ErrPipesClosed = errors.New("the pipes were closed")

// Process is a program that runs in a box, with its standard input and output connected to this
// process. The beginning and the end of its standard error are stored. The program and all
// processes that it started are dead when the Process is closed, when its context ends, and when
// this process dies. It may be used by many goroutines, one of them at a time reading and one
// writing; Close must be called.
type Process struct {
	in, out *os.File
	stop    context.CancelCauseFunc
	done    chan struct{} // closed when all its processes are dead

	result Result // set before done is closed
	err    error

	closing sync.Once
}

// StartProcess starts a command with run, which is [sandbox.Box.Run]. It sets the fields of the
// command for input and output.
func StartProcess(ctx context.Context, run func(context.Context, Command) (Result, error), c Command) (*Process, error) {
	theirIn, in, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("open pipe: %w", err)
	}
	out, theirOut, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open pipe: %w", err), theirIn.Close(), in.Close())
	}
	ctx, stop := context.WithCancelCause(ctx)
	p := &Process{in: in, out: out, stop: stop, done: make(chan struct{})}
	c.Stdin, c.Stdout, c.Merge, c.Heard = theirIn, theirOut, false, nil
	go func() { // Close waits for it through the channel done
		defer close(p.done)
		p.result, p.err = run(ctx, c)
		_ = theirIn.Close()
		_ = theirOut.Close()
		_ = out.SetReadDeadline(time.Now().Add(lastReadTime)) //nolint:forbidigo // a deadline of the system's
	}()
	return p, nil
}

// Read reads the program's standard output, until its end.
func (p *Process) Read(b []byte) (int, error) { return p.out.Read(b) }

// Write writes to the program's standard input.
func (p *Process) Write(b []byte) (int, error) { return p.in.Write(b) }

// CloseInput closes the program's standard input.
func (p *Process) CloseInput() error { return p.in.Close() }

// Done returns a channel that is closed when all processes of the program are dead.
func (p *Process) Done() <-chan struct{} { return p.done }

// Result returns how a dead program ended, and why it could not be run or was killed.
func (p *Process) Result() (Result, error) {
	<-p.done
	return p.result, p.err
}

// EndReason returns why a program has ended or is about to end: a limit that it exceeded, the
// error of its start, or its standard error. It returns "" if the program continues, and if p is
// nil.
func (p *Process) EndReason() string {
	if p == nil {
		return ""
	}
	wait := time.NewTimer(endReasonTime)
	defer wait.Stop()
	select {
	case <-p.done:
	case <-wait.C:
		return ""
	}
	switch {
	case p.result.Over != "":
		return p.result.Exceeded
	case p.err != nil && len(p.result.Stderr) == 0 && !errors.Is(p.err, ErrPipesClosed):
		return p.err.Error()
	default:
		return string(p.result.Stderr)
	}
}

// Close closes the program's input, waits a moment for its end, and kills the rest.
func (p *Process) Close() error {
	p.closing.Do(func() {
		_ = p.in.Close()
		end := time.NewTimer(exitTime)
		defer end.Stop()
		select {
		case <-p.done:
		case <-end.C:
		}
		p.stop(ErrPipesClosed)
		<-p.done
		_ = p.out.Close()
	})
	<-p.done
	return nil
}
