package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// waitBeforeRetry waits before a failed call is retried, and reports whether it is. The call
// is settled and reserves no money meanwhile: each try makes its own reservation, so that a
// pause or a stop takes effect between two. The wait does not count as time of the session.
func (c *sessionConversation) waitBeforeRetry(ctx context.Context, err error) (again bool, _ error) {
	e, ok := errors.AsType[*llm.ModelCallError](err)
	if !ok {
		return false, nil
	}
	if c.failures == nil {
		c.failures = map[llm.CallFailureClass]int{}
	}
	c.failures[e.Class]++
	n := c.failures[e.Class]
	wait, again := c.Retry.RetryWait(e, n)
	if again && c.Now != nil && isAccountWide(e, wait) {
		return true, c.recordQuotaPause(ctx, e, wait)
	}
	if to := nextReplacementModel(c.Choices, c.Model, c.hops); to != "" && e.Class.IsRetryable() && (!again || c.waited+wait > short) {
		c.hops++
		return true, c.switchModel(ctx, to, c.Model+" is "+outageText(e.Class))
	}
	if !again {
		return false, nil
	}
	c.waited += wait
	c.facts = append(c.facts, nexus.ModelCallDelayed{
		Session: c.Session, Model: c.Model, Try: n, Wait: wait, Why: outageText(e.Class), Said: prompt.SingleLine(e.Cause.Error()),
	})
	if err := c.recordFacts(ctx); err != nil {
		return false, err
	}
	spare, stop := c.contextEndingOnDrain(ctx)
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

// describeExhaustion completes the error for a provider that is unavailable after the last retry, and
// adds when it accepts calls again. The task then waits for a person; a session outside of any
// run ends at a limit.
func (c *sessionConversation) describeExhaustion(said *nexus.Error, e *llm.ModelCallError) {
	said.Code = nexus.CodeNeedsPerson
	if c.Task == "" {
		said.Code = nexus.CodeLimit
	}
	said.Message = fmt.Sprintf("%s is %s, and refused %d calls in a row", c.Model, outageText(e.Class), max(c.failures[e.Class], 1))
	said.Hint = "Try again later, or use another model."
	if c.Retry.Now == nil {
		return
	}
	switch wait, ok := e.RetryWait(c.Retry.Now()); {
	case !ok || wait <= 0:
	case wait > believable:
		said.Message += ", and asks for a pause of more than a year; its account is left alone for at most a day"
		said.Hint = "Try again tomorrow, or use another model."
	case wait > llm.LongestPause:
		said.Message += ", and asks for no calls until " + c.Retry.Now().Add(wait).UTC().Format(time.RFC3339) + ", which is longer than the day that is waited at most"
		said.Hint = "Try again after that, or use another model."
	default:
		said.Message += ", and asks for no calls until " + c.Retry.Now().Add(wait).UTC().Format(time.RFC3339)
		said.Hint = "Try again after that, or use another model."
	}
}

// believable is the longest pause whose end is shown to people.
const believable = 365 * 24 * time.Hour

// outageText returns in words why a provider did not answer.
func outageText(c llm.CallFailureClass) string {
	switch c {
	case llm.Overload:
		return "overloaded"
	case llm.Quota:
		return "out of quota"
	default:
		return "failing"
	}
}

// contextEndingOnDrain limits work that can be repeated at no cost.
func (c *sessionConversation) contextEndingOnDrain(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.Spare == nil {
		return ctx, func() {}
	}
	return c.Spare(ctx)
}

// short is the longest wait of a call for quota on its own, and for a model that has a
// replacement.
const short = time.Minute

// isAccountWide reports whether a failure concerns all calls of the account: its window is
// used up, or the wait is long.
func isAccountWide(e *llm.ModelCallError, wait time.Duration) bool {
	return e.Class == llm.Quota && (wait > short || e.Empty)
}

// recordQuotaPause records until when the account accepts no calls. Requests for permission
// then wait, in this process or the next.
func (c *sessionConversation) recordQuotaPause(ctx context.Context, e *llm.ModelCallError, wait time.Duration) error {
	account, _, _ := strings.Cut(c.Model, "/")
	c.facts = append(c.facts, nexus.QuotaExhausted{Account: account, Until: c.Now().Add(wait), Why: prompt.SingleLine(e.Cause.Error()), Session: c.Session})
	return c.recordFacts(ctx)
}

// IsSpendingRefused reports whether an error is the refusal of a reservation,
// which ends a session but is no fault of the machinery.
func IsSpendingRefused(err error) bool {
	e, ok := errors.AsType[*nexus.Error](err)
	return ok && (e.Code == nexus.CodeBudget || e.Code == nexus.CodeLimit)
}
