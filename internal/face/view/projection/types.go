// Package projection is the single projection of runs that every face shows:
// line mode, terminal interface, web pages, status file, API and MCP.
//
// A [Projection] folds the events of one run and answers what a face asks: what
// waits for people, the tasks by who must act, a task with its attempts,
// sessions and checks, the graph, the timeline, the money. What it returns are
// values with JSON names, in the same words everywhere, so a number on a page is
// the number in a terminal. Package hub keeps the projections of all runs of a
// repository in step with the journal.
package projection

import (
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Kind is what an inbox item wants of a person.
type Kind string

// The kinds of inbox items.
const (
	KindApproval Kind = "approval" // somebody must agree: to a plan, a landing, a command
	KindQuestion Kind = "question" // somebody must answer
	KindReview   Kind = "review"   // somebody must look at a change
	KindBudget   Kind = "budget"   // money runs out, or ran out
	KindQuota    Kind = "quota"    // a provider takes no calls for now
	KindConflict Kind = "conflict" // work does not merge
	KindFailure  Kind = "failure"  // a task is parked or failed, or an alert holds
	KindSignOff  Kind = "sign-off" // a criterion that only a person can judge
)

// Item is something that waits for a person, or that a person should know of.
type Item struct {
	humaninput.Item
	Kind    Kind         `json:"kind"`
	Task    nexus.TaskID `json:"task,omitzero"`
	Title   string       `json:"title"`           // one line
	Blocks  bool         `json:"blocks"`          // work stands still until it is answered
	Notice  bool         `json:"notice,omitzero"` // nothing waits for it, and it does not count
	Actions []Action     `json:"actions"`         // what can be done about it, the usual one first

	Estimate *nexus.Estimate `json:"estimate,omitempty"` // of the plan that it asks about; nil: it asks about none
}

// Lane says who must act on a task next.
type Lane string

// The lanes, in the order in which they are shown.
const (
	LaneNeedsYou  Lane = "needs-you"
	LaneRunning   Lane = "running"
	LaneVerifying Lane = "verifying" // gates run
	LaneReview    Lane = "review"    // a reviewer or verifier reads it
	LaneLanding   Lane = "landing"
	LaneReady     Lane = "ready"
	LaneBlocked   Lane = "blocked"
	LaneStopped   Lane = "stopped" // paused, parked, failed or skipped
	LaneDone      Lane = "done"
)

// Lanes are all lanes in the order in which they are shown.
//
//nolint:gochecknoglobals // never written
var Lanes = []Lane{LaneNeedsYou, LaneRunning, LaneVerifying, LaneReview, LaneLanding, LaneReady, LaneBlocked, LaneStopped, LaneDone}

// Input is what an action needs to be told.
type Input string

// The inputs.
const (
	InputNone   Input = ""
	InputText   Input = "text"   // required
	InputReason Input = "reason" // may be empty
)

// Action is something that a person can do to what is selected: a command of the
// command line. Faces show it, ask for its input and its confirmation, and run
// its arguments.
type Action struct {
	Name    string   `json:"name"`             // approve, reject, answer, tell, pause, skip, retry, stop, ...
	Label   string   `json:"label"`            // as a button says it
	Key     string   `json:"key,omitzero"`     // of the keyboard, the same in all faces
	Args    []string `json:"args,omitempty"`   // of the command line, without the program; one that is {} stands for the input
	Input   Input    `json:"input,omitzero"`   //
	Ask     string   `json:"ask,omitzero"`     // what the input is, for people
	Confirm string   `json:"confirm,omitzero"` // the consequence that somebody must agree to; empty: none
	Refused string   `json:"refused,omitzero"` // why it cannot be done now; such an action has no Args
	Danger  bool     `json:"danger,omitzero"`  // it ends or undoes something
	Role    string   `json:"role"`             // the least role that may do it: answer, steer or admin
}

// Card is a task as a list or a board shows it.
type Card struct {
	view.Task
	Lane     Lane      `json:"lane"`
	Stage    string    `json:"stage"`             // plan, work, gate, review, land, done
	Step     string    `json:"step,omitzero"`     // what happens now, in a few words
	Model    string    `json:"model,omitzero"`    // of the session under way, or agent/model
	Met      int       `json:"criteria_met"`      // criteria that are shown to hold
	Criteria int       `json:"criteria"`          //
	Added    int       `json:"added"`             // lines of what landed, 0 before
	Deleted  int       `json:"deleted"`           //
	Worktree string    `json:"worktree,omitzero"` // absolute path; empty: there is none
	Branch   string    `json:"branch,omitzero"`
	Since    time.Time `json:"since,omitzero"`  // it has been in this lane
	Retry    time.Time `json:"retry,omitzero"`  // unixTime it is tried again
	Silent   float64   `json:"silent,omitzero"` // seconds since its agent was heard of, from 30 on
	Items    int       `json:"items"`           // of the inbox that are about it
}

// LaneCards is a lane with its tasks: running ones by how long they run, others
// in the order of the plan.
type LaneCards struct {
	Lane  Lane   `json:"lane"`
	Cards []Card `json:"cards"`
}

// Task is a task with all that a face shows of it.
type Task struct {
	Card
	Text       string         `json:"text"` // its description
	Why        []string       `json:"reasons,omitempty"`
	Files      []string       `json:"files,omitempty"` // that it is expected to touch
	Dependents []nexus.TaskID `json:"dependents,omitempty"`
	Checks     []Criterion    `json:"checks"`
	Tries      []Attempt      `json:"tries"` // oldest first
	Evidence   []view.Proof   `json:"evidence,omitempty"`
	Actions    []Action       `json:"actions"`
	Inbox      []Item         `json:"inbox,omitempty"`
	Guidance   []string       `json:"guidance,omitempty"` // what people told its agent
}

// Criterion is a criterion of a task and what shows it.
type Criterion struct {
	N        int    `json:"n"`
	Text     string `json:"text"`
	Check    string `json:"check,omitzero"` // command
	State    string `json:"state"`          // met, not-met, open, unclear
	Evidence string `json:"evidence,omitzero"`
}

// Attempt is a try at a task.
type Attempt struct {
	ID       nexus.AttemptID `json:"id"`
	Tier     nexus.Tier      `json:"tier"`
	Strategy nexus.Strategy  `json:"strategy"`
	Base     string          `json:"base"`
	Outcome  nexus.Outcome   `json:"outcome,omitzero"` // empty while it is under way
	Why      string          `json:"why,omitzero"`
	Began    time.Time       `json:"began"`
	Ended    time.Time       `json:"ended,omitzero"`
	Rounds   []Round         `json:"rounds"`
	Sessions []Session       `json:"sessions"`
}

// Round is work on an attempt, and how it was judged.
type Round struct {
	N        int             `json:"n"`
	Role     nexus.Role      `json:"role"`
	Cause    string          `json:"cause,omitzero"` // why it was needed
	Gates    []Gate          `json:"gates"`
	Review   string          `json:"review,omitzero"`
	Findings []nexus.Finding `json:"findings,omitempty"` // of its judges
	State    nexus.GateState `json:"state,omitzero"`
}

// Gate is what a gate said of a tree.
type Gate struct {
	Name     string          `json:"gate"`
	State    nexus.GateState `json:"state"`
	Seconds  float64         `json:"seconds"`
	Cached   bool            `json:"cached,omitzero"`
	Findings []nexus.Finding `json:"findings,omitempty"`
	Why      string          `json:"why,omitzero"`
	Raw      string          `json:"raw,omitzero"` // blob of its output
	At       time.Time       `json:"at"`
}

// Session is a conversation of an agent.
type Session struct {
	ID      nexus.SessionID `json:"id"`
	Task    nexus.TaskID    `json:"task,omitzero"`
	Attempt nexus.AttemptID `json:"attempt,omitzero"`
	Role    nexus.Role      `json:"role"`
	Model   string          `json:"model"`
	Turns   int             `json:"turns"`
	Doing   string          `json:"doing,omitzero"`
	Spent   nexus.Money     `json:"spent"`
	Usage   nexus.Usage     `json:"usage"`
	Began   time.Time       `json:"began"`
	Ended   time.Time       `json:"ended,omitzero"`
	Outcome string          `json:"outcome,omitzero"`
	Silent  float64         `json:"silent,omitzero"` // seconds since it was heard of
}

// Graph is the plan as a layered graph.
type Graph struct {
	Nodes  []Node `json:"nodes"`
	Edges  []Edge `json:"edges"`
	Layers int    `json:"layers"`
}

// Node is a task of the graph.
type Node struct {
	ID       nexus.TaskID `json:"id"`
	Title    string       `json:"title"`
	Lane     Lane         `json:"lane"`
	Layer    int          `json:"layer"` // from 0; a task is right of all that it needs
	Row      int          `json:"row"`   // in its layer, from 0
	Critical bool         `json:"critical"`
	Seconds  float64      `json:"seconds"` // took, or is expected to take

	Group  string         `json:"group,omitzero"`  // that the task belongs to
	Tasks  []nexus.TaskID `json:"tasks,omitempty"` // that it stands for where it is a folded group; none: it is a task
	Landed int            `json:"landed,omitzero"` // of those tasks
}

// Edge joins two tasks.
type Edge struct {
	From     nexus.TaskID `json:"from"`
	To       nexus.TaskID `json:"to"`
	Kind     string       `json:"kind"` // needs, follows or collides
	Critical bool         `json:"critical,omitzero"`
	Files    []string     `json:"files,omitempty"` // that both touch, where they collide
}

// Timeline is who did what when.
type Timeline struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	Rows []TimeRow `json:"rows"`
}

// TimeRow is an attempt, or what the run did for no task.
type TimeRow struct {
	Task    nexus.TaskID    `json:"task,omitzero"`
	Attempt nexus.AttemptID `json:"attempt,omitzero"`
	Label   string          `json:"label"`
	Spans   []Span          `json:"spans"`
}

// Span is a stretch of time.
type Span struct {
	Stage string    `json:"stage"` // plan, work, gate, review, land, person, quota, setup or idle
	From  time.Time `json:"from"`
	To    time.Time `json:"to,omitzero"` // zero: it lasts
	Label string    `json:"label,omitzero"`
	State string    `json:"state,omitzero"` // of a gate: pass, fail, ...
}

// Cost is what a run costs, in dollars.
type Cost struct {
	view.Money
	Projected nexus.Money `json:"projected,omitzero"` // unixTime it is done; 0: unknown
	Cached    float64     `json:"cache_share"`        // of the input tokens, 0 to 1
	Estimated bool        `json:"estimated,omitzero"` // some of it is priced by table
	Tasks     []Share     `json:"tasks"`
	Roles     []Share     `json:"roles"`
	Models    []Share     `json:"models"`
	Stages    []Share     `json:"stages"`
	Days      []Share     `json:"days"`
}

// Share is a part of the cost.
type Share struct {
	Of     string      `json:"of"`
	Spent  nexus.Money `json:"spent"`
	Usage  nexus.Usage `json:"usage"`
	Calls  int         `json:"calls"`
	Cached float64     `json:"cache_share"`
}

// Checks is which gate said what of which task.
type Checks struct {
	Gates []string   `json:"gates"` // in the order in which they run
	Rows  []CheckRow `json:"rows"`
}

// CheckRow is a task, with the last word of each gate.
type CheckRow struct {
	Task  nexus.TaskID `json:"task"`
	Title string       `json:"title"`
	Gates []Gate       `json:"gates"` // those that judged it
}

// LogLine is an event as a line.
type LogLine struct {
	Seq   int64        `json:"seq"`
	At    time.Time    `json:"at"`
	Kind  string       `json:"kind"`
	Task  nexus.TaskID `json:"task,omitzero"`
	About string       `json:"about,omitzero"`
	Text  string       `json:"text"`
	Bad   bool         `json:"bad,omitzero"` // something failed
	Event nexus.Event  `json:"-"`            // that it is about
}
