package progress

import (
	"context"
	"errors"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// whole is the whole screen, which a run is shown on from when its tasks begin until it
// is over or the person leaves. The run goes on in this process all the while. What is
// not a channel is guarded by the screen's lock.
type whole struct {
	look    func(context.Context) error // shows it until the person leaves or the run is over; nil: it is not to be, or was
	up      bool                        // it has the terminal: nothing else may write there
	reading bool                        // a line is being read, which cannot be ended
	end     context.CancelCauseFunc     // takes it down
	open    chan struct{}               // closed when its time has come
	roused  bool                        // open is closed
	down    chan struct{}               // closed when it will not come any more, or is gone
}

func newWhole() whole { return whole{open: make(chan struct{}), down: make(chan struct{})} }

var errOver = errors.New("the run is over")

// begun reports whether the tasks of the run have begun. The caller holds the lock.
func (s *screen) begun() bool {
	return s.state.Planned && s.state.Status != nexus.StatusPlanning && !s.state.Status.Ended()
}

// allowFullScreen lets the whole screen open once the tasks have begun. The caller holds the lock.
func (s *screen) allowFullScreen() {
	if s.look != nil && !s.roused && s.begun() {
		s.roused = true
		close(s.open)
	}
}

// onScreen shows the run on the whole screen when its time has come. When the person
// leaves, it goes on without the terminal where it can, and continues in lines elsewhere.
func (s *screen) onScreen(ctx, work context.Context) {
	if s.showWhole(ctx, work) {
		s.detachFromTerminal()
	}
}

// showWhole reports whether the person left a run that can go on without the terminal.
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
	defer context.AfterFunc(work, func() { end(errOver) })() // also where it ends with an error, and nobody takes it down
	err := look(ctx)
	release()
	return s.releaseTerminal(ctx, work, err)
}

// acquireTerminal takes the terminal for the whole screen. It returns nothing where the run is over
// by then, is interrupted, or somebody is typing.
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

// releaseTerminal gives the terminal back to the lines, unless the person left a run that can go on
// without it.
func (s *screen) releaseTerminal(ctx, work context.Context, err error) (left bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.up, s.look = false, nil
	s.showed() // what is typed is read again
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

// takeDown waits until the whole screen is gone: a person who is using it leaves first
// where the run has ended, and otherwise it goes at once.
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

// awaitLines waits until the whole screen is gone, which goes at a signal.
func (s *screen) awaitLines() {
	s.mu.Lock()
	up := s.up
	s.mu.Unlock()
	if up {
		<-s.down
	}
}

// setReading notes whether a line is being read.
func (s *screen) setReading(is bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reading = is
}
