package llm

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Policy says how a failed call is tried again. Its zero value tries four
// times, waits from a second to a minute, and has no jitter.
type Policy struct {
	Tries  int                              // most calls; 0 means 4
	First  time.Duration                    // wait after the first failure, doubled each time; 0 means 1 s
	Most   time.Duration                    // longest wait; 0 means 1 min. A provider that asks for more ends the tries
	Jitter func() float64                   // in [0, 1), spreads the waits over their second half; nil waits in full
	Now    func() time.Time                 // for a Retry-After that is a date; nil leaves such a date out
	Failed func(context.Context, Try) error // told of each failed call before the wait, to settle what it cost; an error ends the tries
}

// Try is a call that failed.
type Try struct {
	Number int // from 1
	Error  *Error
	Usage  nexus.Usage   // what is known of it
	Wait   time.Duration // until the next one
	Last   bool          // there is no next one
}

// Retry returns a model that calls m again where that may help: never for
// what a person must settle, nor for a request that is wrong.
func Retry(m Model, p Policy) Model {
	p.Tries = cmp.Or(p.Tries, 4)
	p.First = cmp.Or(p.First, time.Second)
	p.Most = cmp.Or(p.Most, time.Minute)
	return retrying{m, p}
}

type retrying struct {
	m Model
	p Policy
}

// Stream calls until a call succeeds, or fails for good. What was heard of a
// failed call is heard again.
func (r retrying) Stream(ctx context.Context, q Request, heard func(Delta)) (Response, error) {
	for n := 1; ; n++ {
		answer, err := r.m.Stream(ctx, q, heard)
		if err == nil {
			return answer, nil
		}
		e, ok := errors.AsType[*Error](err)
		if !ok {
			return answer, err
		}
		t := Try{Number: n, Error: e, Usage: answer.Usage}
		wait, again := r.p.wait(e, n)
		if again = again && ctx.Err() == nil; again {
			t.Wait = wait
		}
		t.Last = !again
		if r.p.Failed != nil {
			if err := r.p.Failed(ctx, t); err != nil {
				return answer, err
			}
		}
		if !again {
			return answer, err
		}
		if err := pause(ctx, wait); err != nil {
			return answer, &Error{Class: Fatal, Cause: err}
		}
	}
}

// wait returns how long to wait after the nth failure, and whether to try
// again at all.
func (p Policy) wait(e *Error, n int) (time.Duration, bool) {
	if !e.Class.Retryable() || n >= p.Tries {
		return 0, false
	}
	d := p.Most
	if n < 30 { // else the shift runs over
		d = min(p.First<<(n-1), p.Most)
	}
	if p.Jitter != nil {
		d = d/2 + time.Duration(p.Jitter()*float64(d/2))
	}
	var now time.Time
	if p.Now != nil {
		now = p.Now()
	}
	if asked, ok := e.Wait(now); ok {
		d = max(d, asked)
	}
	return d, d <= p.Most
}

// pause waits for d and returns why ctx ended if it did so before.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
