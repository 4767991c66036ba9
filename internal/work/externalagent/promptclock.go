package externalagent

import (
	"context"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
)

// promptClock ends a prompt when the session's or the task's time is over. It is paused while a
// person is asked: the agent cannot work then.
type promptClock struct {
	session *time.Duration       // rest of the session's time; nil: no end
	task    func() time.Duration // rest of the task's time; nil: no end
	now     func() time.Time
	end     context.CancelCauseFunc

	mu     sync.Mutex // guards the fields below: an agent may ask from any goroutine
	held   int        // number of open questions to people
	over   bool
	since  time.Time
	timers []*time.Timer
}

// startPromptClock starts the clock of a prompt, which ends when ctx does.
func (c *externalConversation) startPromptClock(ctx context.Context) context.Context {
	ctx, end := context.WithCancelCause(ctx)
	c.clock = &promptClock{task: c.Left, now: c.Now, end: end}
	if c.Limits.SessionTime > 0 {
		c.clock.session = &c.left
	}
	c.clock.startTimers()
	return ctx
}

// startTimers starts the clock. The caller has locked mu, or is the only user.
func (k *promptClock) startTimers() {
	k.since = k.now()
	if k.session != nil {
		k.timers = append(k.timers, time.AfterFunc(*k.session, func() { k.end(agent.ErrSessionTime) }))
	}
	if k.task != nil {
		k.timers = append(k.timers, time.AfterFunc(k.task(), func() { k.end(agent.ErrTaskTime) }))
	}
}

// stopTimers stops the clock, and subtracts the elapsed time from the session's time. The caller has
// locked mu.
func (k *promptClock) stopTimers() {
	for _, t := range k.timers {
		t.Stop()
	}
	k.timers = nil
	if k.session != nil {
		*k.session -= k.now().Sub(k.since)
	}
}

// pauseClock pauses the clock until release is called.
func (k *promptClock) pauseClock() (release func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.held++; k.held == 1 && !k.over {
		k.stopTimers()
	}
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.held--; k.held == 0 && !k.over {
			k.startTimers()
		}
	}
}

// stopClock ends the clock with the prompt.
func (k *promptClock) stopClock() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.held == 0 && !k.over {
		k.stopTimers()
	}
	k.over = true
	k.end(context.Canceled)
}

// askPerson asks a person while the clock is paused.
func (c *externalConversation) askPerson(ctx context.Context, q agentcli.AgentQuestion) (string, error) {
	defer c.clock.pauseClock()()
	return c.Ask(ctx, q)
}
