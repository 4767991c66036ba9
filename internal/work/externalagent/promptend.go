package externalagent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// tries limits how often a fault may happen in a stretch before the session ends.
const tries = 3

// rests is the first wait for a provider that does not answer; each further wait is twice as
// long.
const rests = 5 * time.Second

// handlePromptEnd returns the consequence of a prompt's end: an end of the session, the next
// message, or an error that needs a person. If the message did not reach the agent, the whole
// message is sent again.
func (c *externalConversation) handlePromptEnd(ctx context.Context, e agentcli.PromptResult, said string) (end *externalSessionEnd, again string, err error) {
	if e.Fault == "" {
		return c.endWithSubmission(e.Text)
	}
	c.faults[e.Fault]++
	n := c.faults[e.Fault]
	why := fmt.Sprintf("%s did not finish (%s): %s", c.Agent, e.Fault, e.Why)
	quota := ""
	if c.heard {
		again, quota = fmt.Sprintf(sayAgain, prompt.SingleLine(e.Why)), sayQuota
	} else {
		said = ""
	}
	switch e.Fault {
	case nexus.FaultLogin:
		if c.Ready != nil && n < tries { // another session may have renewed it meanwhile
			if fresh, err := c.Ready(); err != nil || fresh {
				return nil, again, err
			}
		}
		return nil, "", c.personError(nexus.CodeAuth, why, "Log in to "+c.Agent+" again; nexus agents shows the command. Then run nexus resume.")
	case nexus.FaultSetup:
		return nil, "", c.personError(nexus.CodeInvalidConfig, why,
			"Check agents."+c.Agent+" in your config.toml; nexus agents shows what is installed. Then run nexus resume.")
	case nexus.FaultQuota:
		// accounts that are paid by use have limits per minute
		if c.Money > 0 && !e.Until.After(c.Now()) && n <= tries {
			return nil, again, c.waitBeforeRetry(ctx, n, "rate limit", e)
		}
		return nil, quota, c.recordExhaustedAccount(ctx, e)
	case nexus.FaultBudget, nexus.FaultTurns, nexus.FaultTime:
		return &externalSessionEnd{outcome: nexus.Exhausted, why: why}, "", nil
	case nexus.FaultRefused:
		return &externalSessionEnd{outcome: nexus.GaveUp, why: why}, "", nil
	case nexus.FaultLost, nexus.FaultContext:
		if n >= tries {
			return &externalSessionEnd{outcome: nexus.Exhausted, why: why}, "", nil
		}
		c.opened.ID = "" // a new conversation, which receives a summary of this one
		return nil, said, nil
	case nexus.FaultOverload:
		if n > tries {
			return nil, "", c.personError(nexus.CodeNeedsPerson, why, "Try again later with nexus resume, or use another agent.")
		}
		return nil, again, c.waitBeforeRetry(ctx, n, "overloaded", e)
	default: // silent, garbage, unfinished, crashed, asking
		if n >= tries {
			return &externalSessionEnd{outcome: nexus.NoProgress, why: fmt.Sprintf("%s, %d times", why, n)}, "", nil
		}
		return nil, again, nil
	}
}

// endWithSubmission ends the session with the agent's submission, or asks for it again.
func (c *externalConversation) endWithSubmission(text string) (*externalSessionEnd, string, error) {
	if c.Submit == nil {
		return &externalSessionEnd{outcome: nexus.Accepted, text: text}, "", nil
	}
	result, err := c.Submit(text)
	// Programs add notices after the submission. A later object that does not fit is not a
	// notice.
	for i := len(c.texts) - 1; i >= 0 && errors.Is(err, errNoObject); i-- {
		text = c.texts[i]
		result, err = c.Submit(text)
	}
	if err == nil {
		return &externalSessionEnd{outcome: nexus.Accepted, text: text, result: result}, "", nil
	}
	if c.unread++; c.unread >= tries {
		why := fmt.Sprintf("%s submitted nothing that can be read, %d times: %v", c.Agent, c.unread, err)
		return &externalSessionEnd{outcome: nexus.NoProgress, why: why}, "", nil
	}
	return nil, fmt.Sprintf(sayUnread, err), nil
}

func (c *externalConversation) personError(code nexus.ErrorCode, message, hint string) error {
	return &nexus.Error{Code: code, Message: message, Hint: hint}
}

// hour is how long an account is not called if it reports no end of its limit.
const hour = time.Hour

// longestQuota limits how long an account is not called: no plan has a longer window.
const longestQuota = 31 * 24 * time.Hour

// recordExhaustedAccount records that the agent's account has no quota. Requests for permission to prompt it
// wait.
func (c *externalConversation) recordExhaustedAccount(ctx context.Context, e agentcli.PromptResult) error {
	until, why := e.Until, prompt.SingleLine(e.Why)
	switch most := c.Now().Add(longestQuota); {
	case !until.After(c.Now()):
		until = c.Now().Add(hour)
	case until.After(most):
		until, why = most, why+" (its end is too far away: capped at 31 days)"
	}
	c.facts = append(c.facts, nexus.QuotaExhausted{Account: c.Agent, Until: until, Why: why, Session: c.Session})
	return c.recordFacts(ctx)
}

// waitBeforeRetry waits before a prompt is repeated.
func (c *externalConversation) waitBeforeRetry(ctx context.Context, n int, why string, e agentcli.PromptResult) error {
	wait := rests << (n - 1)
	c.facts = append(c.facts, nexus.ModelCallDelayed{
		Session: c.Session, Model: c.Model, Try: n, Wait: wait, Why: why, Said: prompt.SingleLine(e.Why),
	})
	if err := c.recordFacts(ctx); err != nil {
		return err
	}
	if c.Spare != nil {
		spare, stop := c.Spare(ctx)
		defer stop()
		ctx = spare
	}
	t := time.NewTimer(wait)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
