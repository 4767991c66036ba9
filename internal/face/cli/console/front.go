package console

import (
	"context"
	"errors"
	"os"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/background"
)

// Front is the process in the foreground of a terminal, as seen by the process that works behind
// it. When the terminal is closed, or the person detaches, the work continues.
type Front struct {
	parent *background.Parent

	mu   sync.Mutex // guards the fields below
	lost func()     // called when the terminal is closed
	left bool       // this process continues without the terminal
}

var errClosed = errors.New("hangup: the terminal was closed")

// NewFront returns the front of this process. Until [Front.Lost] changes that, ctx ends when the
// terminal is closed.
func NewFront(ctx context.Context, parent *background.Parent) (context.Context, *Front) {
	ctx, cancel := context.WithCancelCause(ctx)
	f := &Front{parent: parent, lost: func() { cancel(errClosed) }}
	go func() {
		<-parent.TerminalClosed()
		f.mu.Lock()
		lost := f.lost
		f.mu.Unlock()
		lost()
	}()
	return ctx, f
}

// Lost sets the function that is called when the terminal is closed.
func (f *Front) Lost(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lost = do
}

// Leave detaches this process from the terminal, and writes its further output to a log, which is
// opened once. The front process prints that the run continues, and ends.
func (f *Front) Leave(id nexus.RunID, log func() (*os.File, error)) error {
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
