package external

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// tries is how often a fault may happen in a stretch before the session ends.
const tries = 3

// rests is how long the first wait for a provider is that does not answer; each
// further one is twice as long.
const rests = 5 * time.Second

// handlePromptEnd decides what follows from how a prompt ended: an end of the session, what
// is said next, or an error that a person has to look at. An agent that did not hear
// what was said is told nothing else next, but all of that again.
func (c *conversation) handlePromptEnd(ctx context.Context, e agentcli.PromptResult, said string) (end *ending, again string, err error) {
	if e.Fault == "" {
		return c.submit(e.Text)
	}
	c.faults[e.Fault]++
	n := c.faults[e.Fault]
	why := fmt.Sprintf("%s did not finish (%s): %s", c.Agent, e.Fault, e.Why)
	quota := ""
	if c.heard {
		again, quota = fmt.Sprintf(sayAgain, prompt.Line(e.Why)), sayQuota
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
		return nil, "", c.person(nexus.CodeAuth, why, "Log in to "+c.Agent+" again; nexus agents shows the command. Then run nexus resume.")
	case nexus.FaultSetup:
		return nil, "", c.person(nexus.CodeInvalidConfig, why,
			"Check agents."+c.Agent+" in your config.toml; nexus agents shows what is installed. Then run nexus resume.")
	case nexus.FaultQuota:
		if c.Money > 0 && !e.Until.After(c.Now()) && n <= tries { // who pays by use has limits by the minute
			return nil, again, c.waitBeforeRetry(ctx, n, "rate limit", e)
		}
		return nil, quota, c.quota(ctx, e)
	case nexus.FaultBudget, nexus.FaultTurns, nexus.FaultTime:
		return &ending{outcome: nexus.Exhausted, why: why}, "", nil
	case nexus.FaultRefused:
		return &ending{outcome: nexus.GaveUp, why: why}, "", nil
	case nexus.FaultLost, nexus.FaultContext:
		if n >= tries {
			return &ending{outcome: nexus.Exhausted, why: why}, "", nil
		}
		c.opened.ID = "" // a new conversation, which gets the notes of this one
		return nil, said, nil
	case nexus.FaultOverload:
		if n > tries {
			return nil, "", c.person(nexus.CodeNeedsPerson, why, "Try again later with nexus resume, or use another agent.")
		}
		return nil, again, c.waitBeforeRetry(ctx, n, "overloaded", e)
	default: // silent, garbage, unfinished, crashed, asking
		if n >= tries {
			return &ending{outcome: nexus.NoProgress, why: fmt.Sprintf("%s, %d times", why, n)}, "", nil
		}
		return nil, again, nil
	}
}

// submit ends the session with what the agent submits, or asks for it again.
func (c *conversation) submit(text string) (*ending, string, error) {
	if c.Submit == nil {
		return &ending{outcome: nexus.Accepted, text: text}, "", nil
	}
	result, err := c.Submit(text)
	// Programs add notices after it. A later object that does not fit is not one.
	for i := len(c.texts) - 1; i >= 0 && errors.Is(err, errNoObject); i-- {
		text = c.texts[i]
		result, err = c.Submit(text)
	}
	if err == nil {
		return &ending{outcome: nexus.Accepted, text: text, result: result}, "", nil
	}
	if c.unread++; c.unread >= tries {
		why := fmt.Sprintf("%s submitted nothing that can be read, %d times: %v", c.Agent, c.unread, err)
		return &ending{outcome: nexus.NoProgress, why: why}, "", nil
	}
	return nil, fmt.Sprintf(sayUnread, err), nil
}

func (c *conversation) person(code nexus.Code, message, hint string) error {
	return &nexus.Error{Code: code, Message: message, Hint: hint}
}

// hour is how long an account is left alone that does not say until when.
const hour = time.Hour

// longestQuota is the most that an account is left alone: no plan has a longer window.
const longestQuota = 31 * 24 * time.Hour

// quota parks the agent's account. Whoever asks for permission to prompt it waits.
func (c *conversation) quota(ctx context.Context, e agentcli.PromptResult) error {
	until, why := e.Until, prompt.Line(e.Why)
	switch most := c.Now().Add(longestQuota); {
	case !until.After(c.Now()):
		until = c.Now().Add(hour)
	case until.After(most):
		until, why = most, why+" (its end is too far away: capped at 31 days)"
	}
	c.facts = append(c.facts, nexus.QuotaHit{Account: c.Agent, Until: until, Why: why, Session: c.Session})
	return c.record(ctx)
}

// waitBeforeRetry waits before a prompt is made again.
func (c *conversation) waitBeforeRetry(ctx context.Context, n int, why string, e agentcli.PromptResult) error {
	wait := rests << (n - 1)
	c.facts = append(c.facts, nexus.CallDelayed{
		Session: c.Session, Model: c.Model, Try: n, Wait: wait, Why: why, Said: prompt.Line(e.Why),
	})
	if err := c.record(ctx); err != nil {
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
