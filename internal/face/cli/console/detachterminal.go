package console

import (
	"context"
	"errors"
	"os"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/backgroundprocess"
)

// TerminalProcess is the process in the foreground of a terminal, as seen by the process that works behind
// it. When the terminal is closed, or the person detaches, the work continues.
type TerminalProcess struct {
	parent *backgroundprocess.ParentProcess

	mu   sync.Mutex // guards the fields below
	lost func()     // called when the terminal is closed
	left bool       // this process continues without the terminal
}

var errClosed = errors.New("hangup: the terminal was closed")

// NewTerminalProcess returns the front of this process. Until [TerminalProcess.OnTerminalLost] changes that, ctx ends when the
// terminal is closed.
func NewTerminalProcess(ctx context.Context, parent *backgroundprocess.ParentProcess) (context.Context, *TerminalProcess) {
	ctx, cancel := context.WithCancelCause(ctx)
	f := &TerminalProcess{parent: parent, lost: func() { cancel(errClosed) }}
	go func() {
		<-parent.TerminalClosedChannel()
		f.mu.Lock()
		lost := f.lost
		f.mu.Unlock()
		lost()
	}()
	return ctx, f
}

// OnTerminalLost sets the function that is called when the terminal is closed.
func (f *TerminalProcess) OnTerminalLost(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lost = do
}

// DetachTerminal detaches this process from the terminal, and writes its further output to a log, which is
// opened once. The front process prints that the run continues, and ends.
func (f *TerminalProcess) DetachTerminal(id nexus.RunID, log func() (*os.File, error)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left {
		return nil
	}
	to, err := log()
	if err != nil {
		return err
	}
	defer to.Close() //nolint:errcheck // standard output and standard error have it
	f.left = true
	return f.parent.LeaveTerminal(string(id), to)
}
