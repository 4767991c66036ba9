package agent

import (
	"context"
	"sync"
	"time"
)

// silenceLimit is how long a call may produce no output once the process is told to end soon:
// the sender of that signal kills the process before long.
const silenceLimit = 1500 * time.Millisecond

// shutdownError ends a call without output while the process is ending.
type shutdownError struct{ why error }

// Error implements error.
func (e *shutdownError) Error() string {
	return "the model did not answer in time: " + e.why.Error()
}

// Unwrap returns why the process is ending.
func (e *shutdownError) Unwrap() error { return e.why }

// cancelWhenSilent cancels a call that produces no output for silenceLimit, once the process
// is told to end soon. A call that keeps producing output is not cancelled. Each call of alive
// signals output; stop must follow.
func (c *sessionConversation) cancelWhenSilent(ctx context.Context) (_ context.Context, alive, stop func()) {
	if c.Hurry == nil {
		return ctx, func() {}, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var mu sync.Mutex // guards last
	var last *time.Timer
	unhook := c.Hurry(func(why error) {
		mu.Lock()
		defer mu.Unlock()
		last = time.AfterFunc(silenceLimit, func() { cancel(&shutdownError{why}) })
	})
	alive = func() {
		mu.Lock()
		defer mu.Unlock()
		if last != nil {
			last.Reset(silenceLimit)
		}
	}
	return ctx, alive, func() {
		unhook()
		mu.Lock()
		defer mu.Unlock()
		if last != nil {
			last.Stop()
		}
		cancel(nil)
	}
}
