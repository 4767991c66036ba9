package agent

import (
	"context"
	"errors"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/ratelimit"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// rateLimitedModel is a model whose account has rate limits.
type rateLimitedModel interface {
	// TryPermit returns a permit for a call that may be made at once, or nil.
	TryPermit(r llm.Request) *ratelimit.CallPermit
	// WaitPermit waits for a permit, and reports the cause of a long wait to held.
	WaitPermit(ctx context.Context, r llm.Request, held func(ratelimit.CallWait) error) (*ratelimit.CallPermit, error)
}

// waitForRateLimit applies the account's rate limits to a call that has a reservation. If the
// call has to wait, its reservation is released first, and the turn begins again once the call
// may be made: it requests permission again with the permit that it has. The wait does not
// count as time of the session.
func (c *sessionConversation) waitForRateLimit(ctx context.Context, r llm.Request, id string) (again bool, _ error) {
	d, ok := c.model.(rateLimitedModel)
	if !ok || c.pass != nil {
		return false, nil
	}
	if c.pass = d.TryPermit(r); c.pass != nil {
		return false, nil
	}
	c.facts = append(c.facts, nexus.BudgetSettled{ID: id})
	if err := c.recordFacts(ctx); err != nil {
		return false, err
	}
	spare, stop := c.contextEndingOnDrain(ctx)
	defer stop()
	pass, err := d.WaitPermit(spare, r, func(h ratelimit.CallWait) error {
		c.facts = append(c.facts, nexus.ModelCallDelayed{Session: c.Session, Model: c.Model, Wait: h.Wait, Why: "near its limit", Said: prompt.SingleLine(h.Why)})
		return c.recordFacts(ctx)
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

// releaseUnusedPermit returns a permit that is no longer used.
func (c *sessionConversation) releaseUnusedPermit() {
	if c.pass != nil {
		c.pass.Release()
		c.pass = nil
	}
}
