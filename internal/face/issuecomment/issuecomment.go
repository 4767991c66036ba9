// Package issuecomment keeps a comment on an issue up to date with a run.
package issuecomment

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// Grace limits the time for writing the last text after a run has ended.
const Grace = 15 * time.Second

const (
	first   = time.Second // before a second try
	longest = 30 * time.Second
)

// CommentWriter is a comment on an issue.
type CommentWriter struct {
	Draw    func(*state.State) string
	Write   func(ctx context.Context, text string) error // replaces the comment's text; called by one goroutine
	Passing func(error) bool                             // reports a temporary error, so that it is tried again
	Say     func(error)                                  // receives the reason why the text could not be written
}

// Follow keeps the comment up to date with a run, from its state s and later events, until the
// returned function is called. That function reads the remaining events, writes the last text
// within [Grace], and returns.
//
// At most one write is in progress, and the newest text is the next one. A text that is already
// on the issue is not written again.
func (c CommentWriter) Follow(ctx context.Context, s *state.State,
	live, left func(ctx context.Context, after int64) iter.Seq2[nexus.Event, error],
) (end func()) {
	f := &runCommentFollower{CommentWriter: c, state: s, text: c.Draw(s), news: make(chan struct{}, 1), over: make(chan struct{})}
	// After a signal, the end of the run is still written.
	ctx, kill := context.WithCancelCause(context.WithoutCancel(ctx))
	reading, stop := context.WithCancelCause(ctx)
	var reader, writer sync.WaitGroup
	reader.Go(func() { f.readEvents(live(reading, s.Seq)) })
	writer.Go(func() { f.writeTexts(ctx) })
	return func() {
		stop(errors.New("the run is over"))
		reader.Wait()
		f.readEvents(left(ctx, f.state.Seq))
		f.drawText()
		timer := time.AfterFunc(Grace, func() { kill(errors.New("the forge took too long")) })
		close(f.over)
		writer.Wait()
		timer.Stop()
		kill(nil)
	}
}

type runCommentFollower struct {
	CommentWriter

	state *state.State // owned by the reader

	mu   sync.Mutex // guards the fields below
	text string

	news chan struct{} // the text has changed
	over chan struct{} // closed after the last text
}

// readEvents applies events.
func (f *runCommentFollower) readEvents(events iter.Seq2[nexus.Event, error]) {
	for e, err := range events {
		if err != nil || f.state.Apply(e) != nil {
			return // the conductor reports it
		}
		if view.IsLifecycleFact(e.Fact) {
			f.drawText()
		}
	}
}

func (f *runCommentFollower) drawText() {
	text := f.Draw(f.state)
	f.mu.Lock()
	f.text = text
	f.mu.Unlock()
	select {
	case f.news <- struct{}{}:
	default: // the writer checks again anyway
	}
}

// writeTexts writes each text that differs from the previous one, and retries the last one until it is
// written or ctx ends.
func (f *runCommentFollower) writeTexts(ctx context.Context) {
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
				continue // there may be a newer text
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
			if !f.waitForRetry(ctx, wait) {
				f.Say(errors.Join(context.Cause(ctx), err))
				return
			}
			wait = min(2*wait, longest)
			continue
		}
		select {
		case <-f.news:
		case <-f.over:
			if f.lastText() == text {
				return
			}
		}
	}
}

func (f *runCommentFollower) lastText() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.text
}

// waitForRetry waits before another try; at the end of the run no longer than the first time. It reports
// whether ctx is still active.
func (f *runCommentFollower) waitForRetry(ctx context.Context, wait time.Duration) bool {
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
