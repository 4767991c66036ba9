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
	leave    = time.Second     // for a program to end when its input does
	lastRead = 2 * time.Second // for output that somebody who could not be killed may hold
	lastSaid = 2 * time.Second // for a program to be dead of which it is asked why it ended
)

// ErrPipesClosed is why a program was killed that we talk to no more.
var ErrPipesClosed = errors.New("the pipes were closed")

// Process is a program that runs in a box with its standard input and output in
// our hands, for as long as somebody talks to it. What it says on standard
// error is kept, its beginning and its end. The program and everything that it
// started are dead when the process is closed, when the context that it was
// started with ends, and when this process dies. It may be used by many goroutines, one of
// them at a time reading and one writing; Close must be called.
type Process struct {
	in, out *os.File
	stop    context.CancelCauseFunc
	done    chan struct{} // closed when everything is dead

	result Result // set before done is closed
	err    error

	closing sync.Once
}

// StartProcess starts a command as run runs it, which is [sandbox.Box.Run]. What the
// command says about its input and output is ours to set.
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
	go func() { // waited for in Close, by way of done
		defer close(p.done)
		p.result, p.err = run(ctx, c)
		_ = theirIn.Close()
		_ = theirOut.Close()
		_ = out.SetReadDeadline(time.Now().Add(lastRead)) //nolint:forbidigo // a deadline of the system's
	}()
	return p, nil
}

// Read reads what the program writes to its standard output, to the end.
func (p *Process) Read(b []byte) (int, error) { return p.out.Read(b) }

// Write writes to the program's standard input.
func (p *Process) Write(b []byte) (int, error) { return p.in.Write(b) }

// CloseInput ends the program's standard input.
func (p *Process) CloseInput() error { return p.in.Close() }

// Done is closed when the program and everything that it started is dead.
func (p *Process) Done() <-chan struct{} { return p.done }

// Result says how a program ended that is dead, and why it could not be run or
// was killed.
func (p *Process) Result() (Result, error) {
	<-p.done
	return p.result, p.err
}

// EndReason returns why a program has ended or is about to: what it used too much
// of, that it could not be run, or what it wrote to standard error. It is empty
// where the program continues, and where p is nil.
func (p *Process) EndReason() string {
	if p == nil {
		return ""
	}
	wait := time.NewTimer(lastSaid)
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

// Close ends the program's input, waits a moment for it to end, and kills what
// is left of it.
func (p *Process) Close() error {
	p.closing.Do(func() {
		_ = p.in.Close()
		end := time.NewTimer(leave)
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
