package console

import (
	"context"
	"errors"
	"os"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/background"
)

// Front is the process that was typed at a terminal, as the one knows it that does the
// work beside it. When the terminal is closed, or a person leaves it, the work goes on.
type Front struct {
	parent *background.Parent

	mu   sync.Mutex // guards what follows
	lost func()     // what happens when the terminal is closed
	left bool       // this process goes on without the terminal
}

var errClosed = errors.New("hangup: the terminal was closed")

// NewFront returns the front of this process. Until [Front.Lost] says otherwise ctx ends
// when the terminal is closed.
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

// Lost sets what happens when the terminal is closed from now on.
func (f *Front) Lost(do func()) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lost = do
}

// Leave lets this process go on without the terminal, and writes what it would have shown
// to a log, which is opened once. The front ends, and says that the run continues.
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
