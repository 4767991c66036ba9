package progress

import (
	"context"
	"errors"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// fullScreen is the state of the whole screen, which shows a run from the start of its tasks until the
// run ends or the person detaches. This process conducts the run all the time. The screen's lock
// guards the fields that are not channels.
type fullScreen struct {
	look    func(context.Context) error // shows the run until it ends or the person detaches; nil: do not
	up      bool                        // it uses the terminal: nothing else may write there
	reading bool                        // a line is being read, which cannot be cancelled
	end     context.CancelCauseFunc     // closes the screen
	open    chan struct{}               // closed when the screen may open
	roused  bool                        // open is closed
	down    chan struct{}               // closed when the screen will not open any more, or is closed
}

func newFullScreen() fullScreen {
	return fullScreen{open: make(chan struct{}), down: make(chan struct{})}
}

var errOver = errors.New("the run is over")

// tasksStarted reports whether the tasks of the run have begun. The caller holds the lock.
func (s *runScreen) tasksStarted() bool {
	return s.state.Planned && s.state.Status != nexus.StatusPlanning && !s.state.Status.HasEnded()
}

// allowFullScreen lets the whole screen open once the tasks have begun. The caller holds the
// lock.
func (s *runScreen) allowFullScreen() {
	if s.look != nil && !s.roused && s.tasksStarted() {
		s.roused = true
		close(s.open)
	}
}

// openFullScreenWhenReady shows the run on the whole screen when that may open. When the person detaches, the
// run continues without the terminal if it can, and otherwise in lines.
func (s *runScreen) openFullScreenWhenReady(ctx, work context.Context) {
	if s.showFullScreen(ctx, work) {
		s.detachFromTerminal()
	}
}

// showFullScreen reports whether the person detached from a run that can continue without the
// terminal.
func (s *runScreen) showFullScreen(ctx, work context.Context) (left bool) {
	defer close(s.down)
	s.mu.Lock()
	due := s.look != nil
	s.allowFullScreen() // it had begun before
	s.mu.Unlock()
	if !due {
		return false
	}
	select {
	case <-s.open:
	case <-ctx.Done():
	case <-work.Done():
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	look, release := s.acquireTerminal(ctx, work, end)
	if look == nil {
		return false
	}
	// The screen also closes if the work ends with an error, when nothing else closes it.
	defer context.AfterFunc(work, func() { end(errOver) })()
	err := look(ctx)
	release()
	return s.releaseTerminal(ctx, work, err)
}

// acquireTerminal reserves the terminal for the whole screen. It returns nil if the run has
// ended, was interrupted, or a line is being typed.
func (s *runScreen) acquireTerminal(ctx, work context.Context, end context.CancelCauseFunc) (look func(context.Context) error, release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	look = s.look
	if look == nil || s.over || s.reading || ctx.Err() != nil || work.Err() != nil || !s.tasksStarted() {
		s.look = nil
		s.signalShown()
		return nil, nil
	}
	s.eraseBlock()
	s.up, s.end = true, end
	return look, s.a.HoldMessages()
}

// releaseTerminal returns the terminal to line output, unless the person detached from a run that
// can continue without it.
func (s *runScreen) releaseTerminal(ctx, work context.Context, err error) (left bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.up, s.look = false, nil
	s.signalShown() // typed input is read again
	if ctx.Err() != nil {
		return false
	}
	if err != nil {
		s.a.ReportError(err)
	}
	if s.over || work.Err() != nil || s.state.Status.HasEnded() {
		return false
	}
	if s.a.Host.Front != nil && err == nil {
		return true
	}
	s.a.Say("the run continues here; Ctrl-C stops it, and nexus watch in another terminal shows it on the whole screen again")
	s.draw()
	return false
}

// closeFullScreen waits until the whole screen is closed. If the run has ended, a person who uses the
// screen closes it; otherwise it closes at once.
func (s *runScreen) closeFullScreen(final *state.State) {
	s.mu.Lock()
	up, end := s.up, s.end
	if !up {
		s.look = nil
	}
	s.mu.Unlock()
	if !up {
		return
	}
	if final == nil || !final.Status.HasEnded() {
		end(errOver)
	}
	<-s.down
}

// awaitLines waits until the whole screen is closed, which a signal does.
func (s *runScreen) awaitLines() {
	s.mu.Lock()
	up := s.up
	s.mu.Unlock()
	if up {
		<-s.down
	}
}

// setReading records whether a line is being read.
func (s *runScreen) setReading(is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reading = is
}
