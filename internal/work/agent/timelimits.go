package agent

import (
	"context"
	"errors"
	"time"
)

// The causes with which a context of [WithTimeLimits] ends on its own.
var (
	ErrSessionTime = errors.New("the session's time is up")
	ErrTaskTime    = errors.New("the task's time is up")
)

// WithTimeLimits limits ctx by the time left of a session and of its task. Nil means no limit.
// The session's clock runs until stop, which then updates the rest: waiting for permission and
// for people does not count.
func WithTimeLimits(ctx context.Context, session *time.Duration, task func() time.Duration) (step context.Context, stop func()) {
	var ends []func()
	if session != nil {
		own, cancel := context.WithTimeoutCause(ctx, *session, ErrSessionTime)
		ctx, ends = own, append(ends, func() {
			if end, ok := own.Deadline(); ok {
				*session = time.Until(end)
			}
			cancel()
		})
	}
	if task != nil {
		own, cancel := context.WithTimeoutCause(ctx, task(), ErrTaskTime)
		ctx, ends = own, append(ends, cancel)
	}
	return ctx, func() {
		for _, end := range ends {
			end()
		}
	}
}
