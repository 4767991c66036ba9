package progress

import (
	"context"
	"errors"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// whole is the state of the whole screen, which shows a run from the start of its tasks until the
// run ends or the person detaches. This process conducts the run all the time. The screen's lock
// guards the fields that are not channels.
type whole struct {
	look    func(context.Context) error // shows the run until it ends or the person detaches; nil: do not
	up      bool                        // it uses the terminal: nothing else may write there
	reading bool                        // a line is being read, which cannot be cancelled
	end     context.CancelCauseFunc     // closes the screen
	open    chan struct{}               // closed when the screen may open
	roused  bool                        // open is closed
	down    chan struct{}               // closed when the screen will not open any more, or is closed
}

func newWhole() whole { return whole{open: make(chan struct{}), down: make(chan struct{})} }

var errOver = errors.New("the run is over")

// begun reports whether the tasks of the run have begun. The caller holds the lock.
func (s *screen) begun() bool {
	return s.state.Planned && s.state.Status != nexus.StatusPlanning && !s.state.Status.Ended()
}

// allowFullScreen lets the whole screen open once the tasks have begun. The caller holds the
// lock.
func (s *screen) allowFullScreen() {
	if s.look != nil && !s.roused && s.begun() {
		s.roused = true
		close(s.open)
	}
}

// onScreen shows the run on the whole screen when that may open. When the person detaches, the
// run continues without the terminal if it can, and otherwise in lines.
func (s *screen) onScreen(ctx, work context.Context) {
	if s.showWhole(ctx, work) {
		s.detachFromTerminal()
	}
}

// showWhole reports whether the person detached from a run that can continue without the
// terminal.
func (s *screen) showWhole(ctx, work context.Context) (left bool) {
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
func (s *screen) acquireTerminal(ctx, work context.Context, end context.CancelCauseFunc) (look func(context.Context) error, release func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	look = s.look
	if look == nil || s.over || s.reading || ctx.Err() != nil || work.Err() != nil || !s.begun() {
		s.look = nil
		s.showed()
		return nil, nil
	}
	s.erase()
	s.up, s.end = true, end
	return look, s.a.Hold()
}

// releaseTerminal returns the terminal to line output, unless the person detached from a run that
// can continue without it.
func (s *screen) releaseTerminal(ctx, work context.Context, err error) (left bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.up, s.look = false, nil
	s.showed() // typed input is read again
	if ctx.Err() != nil {
		return false
	}
	if err != nil {
		s.a.Complain(err)
	}
	if s.over || work.Err() != nil || s.state.Status.Ended() {
		return false
	}
	if s.a.Host.Front != nil && err == nil {
		return true
	}
	s.a.Say("the run continues here; Ctrl-C stops it, and nexus watch in another terminal shows it on the whole screen again")
	s.draw()
	return false
}

// takeDown waits until the whole screen is closed. If the run has ended, a person who uses the
// screen closes it; otherwise it closes at once.
func (s *screen) takeDown(final *state.State) {
	s.mu.Lock()
	up, end := s.up, s.end
	if !up {
		s.look = nil
	}
	s.mu.Unlock()
	if !up {
		return
	}
	if final == nil || !final.Status.Ended() {
		end(errOver)
	}
	<-s.down
}

// awaitLines waits until the whole screen is closed, which a signal does.
func (s *screen) awaitLines() {
	s.mu.Lock()
	up := s.up
	s.mu.Unlock()
	if up {
		<-s.down
	}
}

// setReading records whether a line is being read.
func (s *screen) setReading(is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reading = is
}
