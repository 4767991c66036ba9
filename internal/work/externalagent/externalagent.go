// Package externalagent runs sessions with external coding agents, such as Claude Code: Nexus
// writes the task, the agent works in the worktree, and the gates judge the resulting tree.
// The agent's own claims have no effect.
//
//	reserve ─▶ prompt ─▶ its activity, as facts ─▶ its end ─▶ done, again, or over
//
// Each of its messages and calls is recorded in the form of our own agents' facts, so that
// every view of a session shows these too. Its own conversation has an ID, which is recorded
// as a fact: the next round, and the process that continues after a crash, resume it.
package externalagent

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

// ExternalAgentClient is an external agent in a worktree, opened for one session.
type ExternalAgentClient interface {
	// Prompt sends it a message and returns its usage when it is done. Its activity and its
	// questions go to the prompt's functions; when ctx ends, it is stopped.
	Prompt(ctx context.Context, p agentcli.AgentPrompt) (agentcli.PromptResult, error)
	// NewConversationID returns an ID for a new conversation, or "" if the agent creates one itself.
	NewConversationID() string
	// CanResume reports whether it can resume a conversation.
	CanResume() bool
	// ReportsProgress reports whether it reports its activity while it works, and not only at its end.
	ReportsProgress() bool
}

// ExternalSessionBrief describes a stretch of a session: agent, task, and limits.
type ExternalSessionBrief struct {
	Agent    string // name of the agent
	Session  nexus.SessionID
	Attempt  nexus.AttemptID
	Task     nexus.TaskID
	Role     nexus.Role
	Model    string   // agent/model, for accounting
	Others   []string // replacements for the agent, best first
	Tier     nexus.Tier
	Guide    string                      // text at the beginning of a new conversation
	Next     string                      // the message; empty: continue the session
	Why      string                      // brief or repair
	Memory   []nexus.RelevantMemoryEntry // entries of the repository's memory that Next shows
	Delivers agent.Guidance              // guidance that Next delivers; zero: none
	Items    []nexus.PromptManifestItem  // the items of Next, and at first of everything sent before it
	Old      *state.AgentSessionState    // the session in the journal; nil: a new one
	Told     func() string               // the first message of the session
	Earlier  func() string               // a short summary of the session so far, for a new conversation
	Limits   nexus.Limits
	Left     func() time.Duration // time left of the task; nil: no end
	Money    nexus.Money          // most that one prompt may cost; 0: it is paid by subscription

	// Submit extracts the submission from the agent's last message. An error is sent to the
	// agent, which is asked again; nil accepts the message as a summary.
	Submit func(text string) (json.RawMessage, error)
	// cost of tokens if the agent does not count money
	Price  func(model string, u nexus.Usage) (nexus.Money, bool)
	Permit func(ctx context.Context, c stream.AgentToolCall) (j nexus.ToolCallDecision, refused string)
	// Ask asks a person in the agent's name. Nil: questions are not asked.
	Ask    func(ctx context.Context, q agentcli.AgentQuestion) (answer string, err error)
	Settle func(ctx context.Context) error // cleans up the tree after a prompt, before its snapshot
	// Ready copies the user's login to the agent before each prompt, and reports whether it
	// changed; may be nil.
	Ready   func() (fresh bool, err error)
	Renewed func() []nexus.AgentLoginRenewed // since the last call; may be nil
	Reached func() []nexus.RequestedHost
	// number of connections that it requested so far; nil: unknown
	Asked    func() int
	News     func(f nexus.AgentQuotaReported) bool // reports whether that is new; nil: not used
	Snapshot func(ctx context.Context) (nexus.TreeSnapshotted, error)
	Spare    func(context.Context) (context.Context, context.CancelFunc)
	Now      func() time.Time
	Draw     func(name string) uint64
}

// RunExternalSession lets the agent work until it is done or cannot continue. An error means that the
// machinery failed, that a person has to act, or, when ctx ended, is the cause; the session
// can be continued then. With a [schedule.SwitchModelError], one of the others is to continue
// with it.
func RunExternalSession(ctx context.Context, a ExternalAgentClient, b ExternalSessionBrief, d agent.SessionRecorder, s agent.MessageStore) (agent.SessionStretchResult, error) {
	c := &externalConversation{
		ExternalSessionBrief: b, agent: a, desk: d, store: s,
		calls: map[string]pendingToolCall{}, seen: map[string]bool{}, faults: map[nexus.AgentProgramFault]int{}, left: b.Limits.SessionTime,
	}
	if b.Old != nil {
		if b.Old.Over && b.Next == "" {
			// the end of the session is recorded
			return agent.SessionStretchResult{Outcome: b.Old.Outcome, Why: b.Old.Why}, nil
		}
		c.turn, c.left = b.Old.Turns, b.Limits.SessionTime-b.Old.Elapsed
		if !c.isOtherAgent() {
			c.opened, c.closed = b.Old.Opened, b.Old.Closed
		}
	}
	end, err := c.runUntilEnding(ctx)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	out := agent.SessionStretchResult{Turns: c.turn, Usage: c.usage}
	if end != nil {
		out.Outcome, out.Why, out.Handin, out.Text, out.Refusal = end.outcome, end.why, end.result, end.text, end.refusal
	}
	return out, err
}

// externalSessionEnd is the reason for which the session ends.
type externalSessionEnd struct {
	outcome nexus.Outcome
	why     string
	text    string
	result  json.RawMessage
	refusal error
}
