// Package agent runs the loop between a model and its tools.
//
// A role is data: a prompt, a list of tools, a tier and limits, in roles/*.md ([RoleDefinition]). The
// loop is one function, [RunSession]. Every turn is recorded before the next begins, so that a
// session whose process died continues where it stopped:
//
//	record the results, reserve ─▶ model ─▶ record the turn ─▶ tools ─┐
//	   ▲                                                              │
//	   └──────────────────────────────────────────────────────────────┘
//
// Messages are only appended, and a request is built from the recorded messages, so that every
// request extends the one before byte by byte, also after a crash. Messages are compacted only
// when the model's context is nearly full, and the compaction is recorded, too.
//
// Compaction keeps all texts of people word for word: the brief with its criteria, guidance,
// findings, and answers to questions. It also keeps submissions and the last turns. In older
// turns, each result is replaced by one line first; if that is not enough, whole turns are
// replaced by a summary. A call is never separated from its result.
//
// A session may start subagents to answer questions ([SubagentGroup]). They run in the background
// and only read, so no session waits for a tree; a change that several agents should write in
// parallel is split into several tasks. Each subagent has its own session with a fresh
// conversation, its task's budget, and facts in the journal. It ends with its parent: a
// subagent that still runs when the parent submits is stopped. If its process died, it
// continues with its parent.
package agent

import (
	"context"
	"encoding/json"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

// CallableTools are the tools that the model may call.
type CallableTools interface {
	// Specs returns the descriptions of the tools for the model, always the same.
	Specs() []llm.ToolDescription
	// Answer runs one call; a call that fails has a failed result.
	Answer(ctx context.Context, c llm.ToolCall) tool.CallOutcome
	// ReadOnly reports whether calls of the tool may run in parallel.
	ReadOnly(name string) bool
}

// SessionRecorder records a worker's facts and requests permission to spend.
type SessionRecorder interface {
	// Record appends the facts durably, all or none. An error ends the worker.
	Record(ctx context.Context, facts ...nexus.Fact) error
	// Reserve requests permission for one model call. It waits while the run is paused. It
	// returns people's guidance for the task, an [*nexus.Error] with CodeBudget, or the cause of
	// a stop. On success the reservation is durable. The done facts are recorded first, in the
	// same append if possible, and also when permission is refused or has to wait.
	Reserve(ctx context.Context, r nexus.BudgetReserved, done ...nexus.Fact) ([]Guidance, error)
}

// Guidance is a person's guidance for the task.
type Guidance = state.Guidance

// MessageStore stores messages by the hash of their content.
type MessageStore interface {
	Put(data []byte) (hash string, err error)
	Get(hash string) ([]byte, error)
}

// SessionStretchOptions describes a stretch of a session: the role and model, the limits, and the conversation
// so far.
type SessionStretchOptions struct {
	Session nexus.SessionID
	Attempt nexus.AttemptID
	Task    nexus.TaskID
	About   string // a subagent's question; empty for other sessions
	Role    RoleDefinition
	Model   string     // provider/model
	Tier    nexus.Tier // tier of the model, for accounting
	System  string     // system prompt, the same whenever the session continues

	Messages []llm.Message       // so far; see [LoadMessages]
	After    nexus.SessionID     // session whose conversation this one continues at its start; empty: none
	Turn     int                 // turns taken so far
	Used     nexus.Usage         // tokens of those turns
	Elapsed  time.Duration       // active time of those turns
	Tally    state.ToolCallTally // tool calls of those turns

	Cut bool // a person interrupted it: calls without a result are not run

	Next string // our next message; empty to continue where the session stopped
	Why  string // brief or repair; empty: brief at first, repair later

	Memory   []nexus.RelevantMemoryEntry // entries of the repository's memory that Next shows
	Delivers Guidance                    // guidance that Next delivers; zero: none
	Items    []nexus.PromptManifestItem  // the items of Next, and at first of everything sent before it

	Retry llm.CallRetryPolicy // how failed calls are retried
	// limits work that can be repeated for free; nil: no limit
	Spare func(context.Context) (context.Context, context.CancelFunc)

	// Hurry calls end once the process is told to end soon, until stop is called; a call without
	// output is then cancelled. Nil: it never is.
	Hurry func(end func(cause error)) (stop func() bool)

	Context int64                  // the model's context window in tokens; 0 if unknown
	Compact nexus.SessionCompacted // the last compaction of the session
	// names the sessions whose requests begin alike, for the provider's cache
	Family string

	News func() []string // results of background work since the last call; nil: no background work

	// models in order of preference: Model, and its replacements while it is unavailable; nil:
	// only Model
	Choices []SessionModel
	Present string // the model that was called last
	Foreign int    // number of messages at the beginning that Present did not see

	// computes until when an account without quota is not called; nil: each call waits on its own
	Now func() time.Time

	// time left of the task, which ends the session as SessionTime does; nil: no end
	Left func() time.Duration
	// Turns, SessionTokens and SessionTime apply here
	Limits nexus.Limits
	Price  func(nexus.Usage, llm.BillingTerms) nexus.Money // nil: free
	// most that a call may cost; nil: 0
	Worst func(llm.Request) nexus.Money
	// most tokens that a call may use, for a model without a known price; nil: the price is known
	Tokens   func(llm.Request) int64
	Snapshot func(ctx context.Context) (nexus.TreeSnapshotted, error) // pins the tree; nil: there is none
	Schema   json.RawMessage                                          // of the submission; nil for roles that report summary and status
	Draw     func(name string) uint64                                 // the next number of a name, for what must differ; nil: a random one
}

// SessionStretchResult is the result of a stretch of a session.
type SessionStretchResult struct {
	Outcome  nexus.Outcome // Accepted: it submitted
	Why      string        // why not
	Handin   json.RawMessage
	Text     string // its last text, for people
	Turns    int    // turns of this stretch
	Usage    nexus.Usage
	Messages []llm.Message // all recorded messages of the session
	Refusal  error         // the error of the reservation, when Outcome is Refused
}

// RunSession lets a model work with its tools until it submits, reaches a limit, or makes no
// progress. An error means that the machinery failed or, when ctx was cancelled, is the cause;
// the session can be resumed with the messages that were recorded.
func RunSession(ctx context.Context, m llm.Model, tools CallableTools, b SessionStretchOptions, d SessionRecorder, s MessageStore, heard func(llm.AnswerDelta)) (SessionStretchResult, error) {
	c := &sessionConversation{
		SessionStretchOptions: b, model: m, tools: tools, desk: d, store: s, heard: heard,
		specs: tools.Specs(), left: b.Limits.SessionTime - b.Elapsed, taken: b.Turn,
	}
	for _, m := range b.Messages {
		c.addMessage(m)
	}
	c.resumeLastModel()
	end, err := c.runUntilEnding(ctx)
	out := SessionStretchResult{Turns: c.taken - b.Turn, Usage: c.usage, Messages: c.messages}
	if end != nil {
		out.Outcome, out.Why, out.Handin, out.Text, out.Refusal = end.outcome, end.why, end.handin, end.text, end.refusal
	}
	return out, err
}
