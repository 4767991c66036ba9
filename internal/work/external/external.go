// Package external runs sessions with coding agents of other makers, such as
// Claude Code: Nexus writes the task, the agent works in the worktree, and
// the gates judge what the tree holds. Nothing that the agent says counts.
//
//	reserve ─▶ prompt ─▶ what it does, as facts ─▶ how it ended ─▶ done, again, or over
//
// Each of its messages and calls is recorded as those of our own agents are,
// so that whoever shows a session shows these too. Its own conversation has
// an identifier, which is a fact: the next round, and the process that
// continues after a crash, resume it.
package external

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli/stream"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
)

// Agent is another maker's agent in a worktree, opened for one session.
type Agent interface {
	// Prompt tells it something and returns when it is done with that, with what
	// it used. What it does and asks meanwhile goes to the prompt's functions;
	// when ctx ends, it is stopped.
	Prompt(ctx context.Context, p agentcli.Prompt) (agentcli.PromptResult, error)
	// NewID returns an identifier for a new conversation, empty where the agent
	// makes one itself.
	NewID() string
	// Resumes reports whether it can continue with a conversation.
	Resumes() bool
	// Tells reports whether it says what it does while it works, and not only at
	// its end.
	Tells() bool
}

// Brief says who works on what, and within which limits.
type Brief struct {
	Agent    string // its name
	Session  nexus.SessionID
	Attempt  nexus.AttemptID
	Task     nexus.TaskID
	Role     nexus.Role
	Model    string   // agent/model, for the books
	Others   []string // what may do the session in its place, best first
	Tier     nexus.Tier
	Guide    string             // what a new conversation begins with
	Next     string             // what is said; empty: continue where it stopped
	Why      string             // brief or repair
	Memory   []nexus.Remembered // what of the repository's memory Next shows
	Delivers agent.Guidance     // what people left that Next delivers; zero: nothing
	Items    []nexus.PromptItem // what Next is made of, and at first all that is sent before it
	Old      *state.Session     // as the journal has it; nil: a new one
	Told     func() string      // what the session was told first
	Earlier  func() string      // the session so far in a few lines, for a new conversation
	Limits   nexus.Limits
	Left     func() time.Duration // of the task's time; nil: no end
	Money    nexus.Money          // most that one prompt may cost; 0: it is paid by subscription

	// Submit reads what the agent submits out of its last message. An error is
	// told to the agent, which is asked again; nil takes the message as a summary.
	Submit func(text string) (json.RawMessage, error)
	Price  func(model string, u nexus.Usage) (nexus.Money, bool) // what tokens cost where the agent does not count money
	Permit func(ctx context.Context, c stream.Call) (j nexus.Judgement, refused string)
	// Ask asks a person in the agent's name. Nil: nobody is asked.
	Ask    func(ctx context.Context, q agentcli.Question) (answer string, err error)
	Settle func(ctx context.Context) error // puts the tree in order after a prompt, before it is pinned
	// Ready gives it the user's login before each prompt, and reports whether that
	// is another one; may be nil.
	Ready    func() (fresh bool, err error)
	Renewed  func() []nexus.AgentRenewed // since it was asked last; may be nil
	Reached  func() []nexus.HostReached
	Asked    func() int                      // connections to hosts that it asked for so far; nil: nobody knows
	News     func(f nexus.AgentLimited) bool // reports whether that is not known yet; nil: nobody wants to know
	Snapshot func(ctx context.Context) (nexus.TreeSnapshotted, error)
	Spare    func(context.Context) (context.Context, context.CancelFunc)
	Now      func() time.Time
	Draw     func(name string) uint64
}

// Run lets the agent work until it is done or can continue no longer. An error means
// that the machinery failed, that a person has to do something, or, when ctx
// ended, is the cause; the session can be continued then. With a
// [schedule.OtherModelError], one of the others is to continue with it.
func Run(ctx context.Context, a Agent, b Brief, d agent.Recorder, s agent.Store) (agent.Outcome, error) {
	c := &conversation{
		Brief: b, agent: a, desk: d, store: s,
		calls: map[string]call{}, seen: map[string]bool{}, faults: map[nexus.Fault]int{}, left: b.Limits.SessionTime,
	}
	if b.Old != nil {
		if b.Old.Over && b.Next == "" {
			return agent.Outcome{Outcome: b.Old.Outcome, Why: b.Old.Why}, nil // its end is recorded
		}
		c.turn, c.left = b.Old.Turns, b.Limits.SessionTime-b.Old.Elapsed
		if !c.isOtherAgent() {
			c.opened, c.closed = b.Old.Opened, b.Old.Closed
		}
	}
	end, err := c.run(ctx)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	out := agent.Outcome{Turns: c.turn, Usage: c.usage}
	if end != nil {
		out.Outcome, out.Why, out.Handin, out.Text, out.Refusal = end.outcome, end.why, end.result, end.text, end.refusal
	}
	return out, err
}

// ending is why the session ends.
type ending struct {
	outcome nexus.Outcome
	why     string
	text    string
	result  json.RawMessage
	refusal error
}
