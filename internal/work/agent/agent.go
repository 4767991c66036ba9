// Package agent is the loop between a model and its tools.
//
// A role is data: a prompt, a list of tools, a tier and limits, in roles/*.md
// ([Role]). The loop is one function, [Run]. Every turn is recorded before the
// next begins, so that a session whose process died continues where it
// stopped:
//
//	record the results, reserve ─▶ model ─▶ record the turn ─▶ tools ─┐
//	   ▲                                                              │
//	   └──────────────────────────────────────────────────────────────┘
//
// Messages are only ever added at the end, and those that are sent are read
// back from what was recorded, so that every request extends the one before
// byte by byte, also after a crash. Only when the model can hold no more are
// they compacted, and the compaction is recorded, too.
//
// Compaction keeps word for word what people asked for: the brief with its
// criteria, guidance, findings, and answers to questions. So it does with
// submissions and the last turns. Of what is older, results are replaced by a
// line each first; if that is not enough, whole turns are replaced by a
// summary. A call is never parted from its result.
//
// A session may send others to look into questions ([Subagents]). They run in
// the background and only read, so nobody waits for a tree; what several
// agents should write at once is several tasks. Each is a session of its own,
// with a fresh conversation, its task's budget, and facts in the journal. It
// ends with its parent: one that still runs when the parent submits is
// stopped. One whose process died continues with its parent.
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

// Tools are what the model may call.
type Tools interface {
	// Specs returns what the model is told about them, always the same.
	Specs() []llm.Tool
	// Answer runs one call; a call that fails has a failed result.
	Answer(ctx context.Context, c llm.Call) tool.Answer
	// ReadOnly reports whether calls of the tool may run side by side.
	ReadOnly(name string) bool
}

// Recorder is where a worker records what happened and asks for permission to spend.
type Recorder interface {
	// Record appends the facts durably, all or none. An error ends the worker.
	Record(ctx context.Context, facts ...nexus.Fact) error
	// Reserve asks for permission for one model call. It waits while the run is paused.
	// It returns guidance that people left for the task, an [*nexus.Error] with
	// CodeBudget, or the cause of a stop. On success the reservation is durable.
	// What was done before it is recorded first, with it where that can be, and
	// also when leave is refused or has to wait.
	Reserve(ctx context.Context, r nexus.BudgetReserved, done ...nexus.Fact) ([]Guidance, error)
}

// Guidance is what people left for the task.
type Guidance = state.Guidance

// Store keeps messages by the hash of their content.
type Store interface {
	Put(data []byte) (hash string, err error)
	Get(hash string) ([]byte, error)
}

// Brief says who works on what, within which limits, and what was said so
// far.
type Brief struct {
	Session nexus.SessionID
	Attempt nexus.AttemptID
	Task    nexus.TaskID
	About   string // what it is asked, for one that another session sent
	Role    Role
	Model   string     // provider/model
	Tier    nexus.Tier // of the model, for the books
	System  string     // the same whenever the session continues

	Messages []llm.Message   // so far; see [LoadMessages]
	After    nexus.SessionID // whose they are, where this session is to begin in that one's conversation; empty: its own
	Turn     int             // turns taken so far
	Used     nexus.Usage     // tokens of those
	Elapsed  time.Duration   // active time of those
	Tally    state.Tally     // tool calls of those

	Cut bool // a person interrupted it: calls that nobody answered are not run

	Next string // our next message; empty to continue where the session stopped
	Why  string // brief or repair; empty: brief at first, repair later

	Memory   []nexus.Remembered // what of the repository's memory Next shows
	Delivers Guidance           // what people left that Next delivers; zero: nothing
	Items    []nexus.PromptItem // what Next is made of, and at first all that is sent before it

	Retry llm.Policy                                                  // how failed calls are made again
	Spare func(context.Context) (context.Context, context.CancelFunc) // bounds what costs nothing to do again; nil: nothing does

	// Hurry calls end once the process is told to end soon, until stop is called;
	// a call that says nothing is then not waited for. Nil: it never is.
	Hurry func(end func(cause error)) (stop func() bool)

	Context int64                  // most tokens that the model holds; 0 if unknown
	Compact nexus.SessionCompacted // the last time that the session was compacted
	Family  string                 // names those whose requests begin alike, for the provider's cache

	News func() []string // what became of what goes on beside the session, since it was last asked; nil: nothing does

	Choices []Choice // what may be asked: Model, and what is asked while that cannot be; nil: only Model
	Present string   // which of them was asked last
	Foreign int      // messages at the beginning that it did not see

	Now func() time.Time // says until when an account without quota is left alone; nil: each call waits for itself

	Left     func() time.Duration                                     // of the task's time, which ends the session as its own does; nil: no end
	Limits   nexus.Limits                                             // Turns, SessionTokens and SessionTime count here
	Price    func(nexus.Usage, llm.Terms) nexus.Money                 // nil: free
	Worst    func(llm.Request) nexus.Money                            // most that a call may cost; nil: nothing
	Tokens   func(llm.Request) int64                                  // most tokens that a call may use, for a model without a known price; nil: it has one
	Snapshot func(ctx context.Context) (nexus.TreeSnapshotted, error) // pins the tree; nil: there is none
	Schema   json.RawMessage                                          // of the submission; nil for roles that report summary and status
	Draw     func(name string) uint64                                 // the next number of a name, for what must differ; nil: a random one
}

// Outcome is how a stretch of a session ended.
type Outcome struct {
	Outcome  nexus.Outcome // Accepted: it submitted
	Why      string        // why not
	Handin   json.RawMessage
	Text     string // what it said last, for people
	Turns    int    // taken now
	Usage    nexus.Usage
	Messages []llm.Message // all that is recorded of the session
	Refusal  error         // what the desk said, when Outcome is Refused
}

// Run lets a model work with its tools until it submits, is stopped by a
// limit, or makes no progress. An error means that the machinery failed or,
// when ctx was cancelled, is the cause; the session can be taken up again
// with the messages that were recorded.
func Run(ctx context.Context, m llm.Model, tools Tools, b Brief, d Recorder, s Store, heard func(llm.Delta)) (Outcome, error) {
	c := &conversation{
		Brief: b, model: m, tools: tools, desk: d, store: s, heard: heard,
		specs: tools.Specs(), left: b.Limits.SessionTime - b.Elapsed, taken: b.Turn,
	}
	for _, m := range b.Messages {
		c.add(m)
	}
	c.resumeLastModel()
	end, err := c.run(ctx)
	out := Outcome{Turns: c.taken - b.Turn, Usage: c.usage, Messages: c.messages}
	if end != nil {
		out.Outcome, out.Why, out.Handin, out.Text, out.Refusal = end.outcome, end.why, end.handin, end.text, end.refusal
	}
	return out, err
}
