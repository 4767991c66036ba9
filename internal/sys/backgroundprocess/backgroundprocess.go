// Package backgroundprocess starts this program again, as a process that continues after its terminal is
// closed and after its parent has ended.
//
// [StartProcess] gives it no terminal and a session of its own; the parent waits until the process
// reports by a pipe that it is ready. [RunInTerminal] lets it share the terminal: the parent waits
// until the process ends, or until it releases the terminal and continues without it.
package backgroundprocess

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

// startedVariable is the environment variable that marks a process started by this package.
const startedVariable = "NEXUS_BACKGROUND"

// sharesTerminalWord is the value for a process that shares the terminal of its parent.
const sharesTerminalWord = "beside"

// File descriptors of the process: a pipe that it writes to, and, if it shares the terminal, a
// pipe whose other end closes when its parent is gone.
const (
	readyFD  = 3
	parentFD = 4
)

// maxSaid limits the bytes that are read from the pipe.
const maxSaid = 4096

// Options describe the process to start, in the working directory of this process.
type Options struct {
	Exe      string   // the program
	Args     []string // without the program's name
	Env      []string // "NAME=value"
	Word     string   // passed to the process as [ParentProcess.Word]
	In       *os.File // nil: no input
	Out, Err *os.File // output; they may be closed once the process was started
}

// StartedProcess is a started process.
type StartedProcess struct {
	PID int

	process *os.Process
	pipe    *os.File
}

// StartProcess starts the program in a session of its own. The caller must call [StartedProcess.WaitUntilReady] once.
func StartProcess(o Options) (*StartedProcess, error) {
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
	p, err := o.startProcess([]*os.File{o.In, o.Out, o.Err, write}, &syscall.SysProcAttr{Setsid: true})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start in the background: %w", err), read.Close())
	}
	return &StartedProcess{PID: p.Pid, process: p, pipe: read}, nil
}

func (o Options) startProcess(files []*os.File, sys *syscall.SysProcAttr) (*os.Process, error) {
	return os.StartProcess(o.Exe, append([]string{o.Exe}, o.Args...), &os.ProcAttr{
		Env: append(o.Env[:len(o.Env):len(o.Env)], startedVariable+"="+o.Word), Files: files, Sys: sys,
	})
}

// WaitUntilReady waits until the process reports that it is ready, and returns its text. If the process
// ends before that, Ready returns its exit code and no text. If ctx ends, Ready asks the process
// to end, and waits for that.
func (p *StartedProcess) WaitUntilReady(ctx context.Context) (said string, code int, err error) {
	defer p.pipe.Close() //nolint:errcheck // only read
	asked := context.AfterFunc(ctx, func() { _ = p.process.Signal(syscall.SIGTERM) })
	defer asked()
	data, err := io.ReadAll(io.LimitReader(p.pipe, maxSaid)) // the process closes the pipe after its text
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

// ParentProcess is the parent of this process.
type ParentProcess struct {
	Word string // from [Options.Word]

	once sync.Once
	pipe *os.File
	gone chan struct{} // closed when the terminal or the parent is gone; nil: no shared terminal
}

// FindParent returns the parent that started this process in the background, or nil. It must be
// called once, before any other process is started: those must not inherit the pipe.
func FindParent() *ParentProcess {
	word, marked := os.LookupEnv(startedVariable)
	if !marked {
		return nil
	}
	_ = os.Unsetenv(startedVariable) // its own children are not background processes
	syscall.CloseOnExec(readyFD)
	p := &ParentProcess{Word: word, pipe: os.NewFile(readyFD, "parent")}
	if word == sharesTerminalWord {
		syscall.CloseOnExec(parentFD)
		p.gone = make(chan struct{})
		go p.closeChannelOnTerminalEnd(os.NewFile(parentFD, "alive"))
	}
	return p
}

// ReportReady reports to the parent that this process is ready. Only the first call has an effect.
func (p *ParentProcess) ReportReady(text string) {
	p.once.Do(func() {
		_, _ = io.WriteString(p.pipe, text) // the parent may have ended
		_ = p.pipe.Close()
	})
}
