package external

import (
	"context"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
)

// clock ends a prompt when the session's time or the task's is up. It stands still
// while a person is asked: the agent cannot work then.
type clock struct {
	session *time.Duration       // left of the session's time; nil: no end
	task    func() time.Duration // left of the task's; nil: no end
	now     func() time.Time
	end     context.CancelCauseFunc

	mu     sync.Mutex // guards what follows: an agent may ask from any goroutine
	held   int        // people who are asked
	over   bool
	since  time.Time
	timers []*time.Timer
}

// bound starts the clock of a prompt, which its context ends with.
func (c *conversation) bound(ctx context.Context) context.Context {
	ctx, end := context.WithCancelCause(ctx)
	c.clock = &clock{task: c.Left, now: c.Now, end: end}
	if c.Limits.SessionTime > 0 {
		c.clock.session = &c.left
	}
	c.clock.run()
	return ctx
}

// run lets the clock run. The caller has mu, or nobody else has the clock.
func (k *clock) run() {
	k.since = k.now()
	if k.session != nil {
		k.timers = append(k.timers, time.AfterFunc(*k.session, func() { k.end(agent.ErrSessionTime) }))
	}
	if k.task != nil {
		k.timers = append(k.timers, time.AfterFunc(k.task(), func() { k.end(agent.ErrTaskTime) }))
	}
}

// halt stops it, and takes what passed off the session's time. The caller has mu.
func (k *clock) halt() {
	for _, t := range k.timers {
		t.Stop()
	}
	k.timers = nil
	if k.session != nil {
		*k.session -= k.now().Sub(k.since)
	}
}

// hold stops the clock until what it returns is called.
func (k *clock) hold() (release func()) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.held++; k.held == 1 && !k.over {
		k.halt()
	}
	return func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if k.held--; k.held == 0 && !k.over {
			k.run()
		}
	}
}

// stop ends it with the prompt.
func (k *clock) stop() {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.held == 0 && !k.over {
		k.halt()
	}
	k.over = true
	k.end(context.Canceled)
}

// ask has a person asked while the clock stands still.
func (c *conversation) ask(ctx context.Context, q agentcli.Question) (string, error) {
	defer c.clock.hold()()
	return c.Ask(ctx, q)
}
