// Package background starts this program once more, as a process that goes on
// when its terminal is closed and when who started it has ended.
//
// [Start] gives it no terminal and a session of its own; whoever started it waits
// until it says by a pipe that it is under way. [RunInTerminal] lets it share the terminal:
// whoever started it waits until it ends, or leaves the terminal and goes on without.
package background

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
)

// mark is the variable that tells the process that it was started so.
const mark = "NEXUS_BACKGROUND"

// beside is the word for a process that shares the terminal of its parent.
const beside = "beside"

// The descriptors of the process: a pipe that it writes to, and one, where it shares the
// terminal, whose other end closes when its parent is gone.
const (
	saying  = 3
	hearing = 4
)

// maxSaid bounds what is read of the pipe.
const maxSaid = 4096

// Options is what to start, in the working directory of this process.
type Options struct {
	Exe      string   // the program
	Args     []string // without the program's name
	Env      []string // "NAME=value"
	Word     string   // what it is told, as [Parent.Word]
	In       *os.File // nil: it reads nothing
	Out, Err *os.File // where it writes; they may be closed once it was started
}

// Process is a process that was started.
type Process struct {
	PID int

	process *os.Process
	pipe    *os.File
}

// Start starts the program in a session of its own. The caller waits for
// [Process.Ready] once.
func Start(o Options) (*Process, error) {
	read, write, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer write.Close() //nolint:errcheck // the process has its own
	if o.In == nil {
		if o.In, err = os.Open(os.DevNull); err != nil {
			return nil, errors.Join(err, read.Close())
		}
		defer o.In.Close() //nolint:errcheck // only read
	}
	p, err := o.start([]*os.File{o.In, o.Out, o.Err, write}, &syscall.SysProcAttr{Setsid: true})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start in the background: %w", err), read.Close())
	}
	return &Process{PID: p.Pid, process: p, pipe: read}, nil
}

func (o Options) start(files []*os.File, sys *syscall.SysProcAttr) (*os.Process, error) {
	return os.StartProcess(o.Exe, append([]string{o.Exe}, o.Args...), &os.ProcAttr{
		Env: append(o.Env[:len(o.Env):len(o.Env)], mark+"="+o.Word), Files: files, Sys: sys,
	})
}

// Ready waits until the process says that it is under way, and returns what it
// said. A process that ends before that has an exit code and said nothing. The
// end of ctx asks it to end, and waits for that.
func (p *Process) Ready(ctx context.Context) (said string, code int, err error) {
	defer p.pipe.Close() //nolint:errcheck // only read
	asked := context.AfterFunc(ctx, func() { _ = p.process.Signal(syscall.SIGTERM) })
	defer asked()
	data, err := io.ReadAll(io.LimitReader(p.pipe, maxSaid)) // it closes the pipe when it has said it
	if err != nil {
		return "", 0, err
	}
	if text := strings.TrimSpace(string(data)); text != "" {
		return text, 0, p.process.Release()
	}
	end, err := p.process.Wait()
	if err != nil {
		return "", 0, err
	}
	return "", end.ExitCode(), nil
}

// Parent is who started this process, as it knows it.
type Parent struct {
	Word string // from [Options.Word]

	once sync.Once
	pipe *os.File
	gone chan struct{} // closed when the terminal or the parent is gone; nil: they share none
}

// FindParent returns who started this process in the background; nil where nobody
// did. It is called once, before any other process is started: those must not
// inherit the pipe.
func FindParent() *Parent {
	word, marked := os.LookupEnv(mark)
	if !marked {
		return nil
	}
	_ = os.Unsetenv(mark) // its own children were not started so
	syscall.CloseOnExec(saying)
	p := &Parent{Word: word, pipe: os.NewFile(saying, "parent")}
	if word == beside {
		syscall.CloseOnExec(hearing)
		p.gone = make(chan struct{})
		go p.watchTerminal(os.NewFile(hearing, "alive"))
	}
	return p
}

// ReportReady tells the parent that this process is under way. Only the first call does.
func (p *Parent) ReportReady(text string) {
	p.once.Do(func() {
		_, _ = io.WriteString(p.pipe, text) // it may have gone
		_ = p.pipe.Close()
	})
}
