package agent

import (
	"context"
	"errors"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/ratelimit"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// rateLimitedModel is a model whose account has limits that calls are kept within.
type rateLimitedModel interface {
	// Try returns leave for a call that may be made at once, else nil.
	Try(r llm.Request) *ratelimit.Permit
	// Enter waits for leave, and tells what for where that takes long.
	Enter(ctx context.Context, r llm.Request, held func(ratelimit.Hold) error) (*ratelimit.Permit, error)
}

// waitForRateLimit lets a call that has leave to spend keep within the limits of its
// account. Where it would have to wait for them, what was set aside for it is
// given back first, and the turn begins again once it may be made: the desk is
// asked again with the pass in hand. The wait costs none of the session's time.
func (c *conversation) waitForRateLimit(ctx context.Context, r llm.Request, id string) (again bool, _ error) {
	d, ok := c.model.(rateLimitedModel)
	if !ok || c.pass != nil {
		return false, nil
	}
	if c.pass = d.Try(r); c.pass != nil {
		return false, nil
	}
	c.facts = append(c.facts, nexus.BudgetSpent{ID: id})
	if err := c.record(ctx); err != nil {
		return false, err
	}
	spare, stop := c.repeatableContext(ctx)
	defer stop()
	pass, err := d.Enter(spare, r, func(h ratelimit.Hold) error {
		c.facts = append(c.facts, nexus.CallDelayed{Session: c.Session, Model: c.Model, Wait: h.Wait, Why: "near its limit", Said: prompt.Line(h.Why)})
		return c.record(ctx)
	})
	switch {
	case err == nil:
		c.pass = pass
		return true, nil
	case spare.Err() != nil:
		return false, context.Cause(spare)
	}
	if again, failed := c.waitBeforeRetry(ctx, err); again || failed != nil {
		return again, failed
	}
	return false, errors.Join(errors.New("wait for the provider's limits"), err)
}

// releasePass gives back leave that is not used any more.
func (c *conversation) releasePass() {
	if c.pass != nil {
		c.pass.Release()
		c.pass = nil
	}
}
