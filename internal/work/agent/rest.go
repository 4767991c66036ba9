package agent

import (
	"context"
	"errors"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// rest waits before a failed call is made again, and reports whether it is.
// The call is settled and holds no money meanwhile: each try reserves its own,
// so that a pause or a stop is heard between two. The wait costs none of the
// session's time.
func (c *conversation) rest(ctx context.Context, err error) (again bool, _ error) {
	e, ok := errors.AsType[*llm.Error](err)
	if !ok {
		return false, nil
	}
	if c.failures == nil {
		c.failures = map[llm.Class]int{}
	}
	c.failures[e.Class]++
	n := c.failures[e.Class]
	wait, again := c.Retry.Wait(e, n)
	if !again {
		return false, nil
	}
	c.facts = append(c.facts, nexus.CallDelayed{
		Session: c.Session, Model: c.Model, Try: n, Wait: wait, Why: ailing(e.Class), Said: prompt.Line(e.Cause.Error()),
	})
	if err := c.record(ctx); err != nil {
		return false, err
	}
	spare, stop := c.spare(ctx)
	defer stop()
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return true, nil
	case <-spare.Done():
		return false, context.Cause(spare)
	}
}

// ailing says in words why a provider did not answer.
func ailing(c llm.Class) string {
	switch c {
	case llm.Overload:
		return "overloaded"
	case llm.Quota:
		return "out of quota"
	default:
		return "failing"
	}
}

// spare bounds what can be done again at no cost.
func (c *conversation) spare(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.Spare == nil {
		return ctx, func() {}
	}
	return c.Spare(ctx)
}
