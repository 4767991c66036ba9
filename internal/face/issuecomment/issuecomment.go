// Package issuecomment keeps the text of a comment on an issue in step with a run.
package issuecomment

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Grace is how long the last text may take once a run has ended.
const Grace = 15 * time.Second

const (
	first   = time.Second // before a second try
	longest = 30 * time.Second
)

// Comment is a comment on an issue.
type Comment struct {
	Draw    func(*state.State) string
	Write   func(ctx context.Context, text string) error // replaces the comment's text; it is called by one goroutine
	Passing func(error) bool                             // it may be over soon, so it is tried again
	Say     func(error)                                  // hears why the text could not be written
}

// Follow keeps the comment in step with a run that stands at s, and its events after that, until the function that
// it returns is called. That reads the events that are left, writes the last text within [Grace], and returns.
//
// At most one write is under way, and the newest text is the next one. What is on the issue already is not written.
func (c Comment) Follow(ctx context.Context, s *state.State,
	live, left func(ctx context.Context, after int64) iter.Seq2[nexus.Event, error],
) (end func()) {
	f := &follower{Comment: c, state: s, text: c.Draw(s), news: make(chan struct{}, 1), over: make(chan struct{})}
	ctx, kill := context.WithCancelCause(context.WithoutCancel(ctx)) // a signal ends the run, and then its end is told
	reading, stop := context.WithCancelCause(ctx)
	var reader, writer sync.WaitGroup
	reader.Go(func() { f.read(live(reading, s.Seq)) })
	writer.Go(func() { f.write(ctx) })
	return func() {
		stop(errors.New("the run is over"))
		reader.Wait()
		f.read(left(ctx, f.state.Seq))
		f.draw()
		timer := time.AfterFunc(Grace, func() { kill(errors.New("the forge took too long")) })
		close(f.over)
		writer.Wait()
		timer.Stop()
		kill(nil)
	}
}

type follower struct {
	Comment

	state *state.State // of the reader

	mu   sync.Mutex // guards what follows
	text string

	news chan struct{} // the text is another one
	over chan struct{} // closed after the last text
}

// read takes over events.
func (f *follower) read(events iter.Seq2[nexus.Event, error]) {
	for e, err := range events {
		if err != nil || f.state.Apply(e) != nil {
			return // who conducts the run says so
		}
		if view.IsLifecycleFact(e.Fact) {
			f.draw()
		}
	}
}

func (f *follower) draw() {
	text := f.Draw(f.state)
	f.mu.Lock()
	f.text = text
	f.mu.Unlock()
	select {
	case f.news <- struct{}{}:
	default: // whoever writes looks again anyway
	}
}

// write writes each text that differs from the one before, the last one until it is written or ctx ends.
func (f *follower) write(ctx context.Context) {
	there, refused := "", ""
	wait, failed := first, error(nil)
	for {
		f.mu.Lock()
		text := f.text
		f.mu.Unlock()
		if text != there && text != refused {
			err := f.Write(ctx, text)
			switch {
			case err == nil:
				there, refused, wait, failed = text, "", first, nil
				continue // there may be another one
			case ctx.Err() != nil:
				f.Say(errors.Join(context.Cause(ctx), err))
				return
			case !f.Passing(err):
				if failed == nil || failed.Error() != err.Error() {
					f.Say(err) // once
				}
				refused, failed = text, err
				continue
			}
			if !f.rest(ctx, wait) {
				f.Say(errors.Join(context.Cause(ctx), err))
				return
			}
			wait = min(2*wait, longest)
			continue
		}
		select {
		case <-f.news:
		case <-f.over:
			if f.last() == text {
				return
			}
		}
	}
}

func (f *follower) last() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.text
}

// rest waits before another try, at the end of the run no longer than the first time. It reports whether ctx goes on.
func (f *follower) rest(ctx context.Context, wait time.Duration) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-f.over:
		timer.Reset(first)
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
