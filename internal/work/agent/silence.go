package agent

import (
	"context"
	"sync"
	"time"
)

// silenceLimit is how long a call may say nothing once the process is told to end
// soon: what tells it that kills it before long.
const silenceLimit = 1500 * time.Millisecond

// hurriedError ends a call that said nothing when there was no more time for it.
type hurriedError struct{ why error }

// Error implements error.
func (e *hurriedError) Error() string {
	return "the model did not answer in time: " + e.why.Error()
}

// Unwrap returns why there is no time.
func (e *hurriedError) Unwrap() error { return e.why }

// cancelWhenSilent ends a call that says nothing for a moment, once the process is told
// to end soon. One that keeps saying something is waited for. Each call of
// alive is such a sign; stop must follow.
func (c *conversation) cancelWhenSilent(ctx context.Context) (_ context.Context, alive, stop func()) {
	if c.Hurry == nil {
		return ctx, func() {}, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var mu sync.Mutex // guards last
	var last *time.Timer
	unhook := c.Hurry(func(why error) {
		mu.Lock()
		defer mu.Unlock()
		last = time.AfterFunc(silenceLimit, func() { cancel(&hurriedError{why}) })
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
