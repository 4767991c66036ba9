// Package projection is the single source for all displays of runs: line mode, terminal
// interface, web pages, status file, API and MCP.
//
// A [RunProjection] applies the events of one run and answers the queries of interfaces: the items
// that wait for people, the tasks by who must act, a task with its attempts, sessions and checks,
// the graph, the timeline, the money. Its results are values with JSON names and the same words
// everywhere, so a number on a page equals the number in a terminal. Package hub keeps the
// projections of all runs of a repository up to date with the journal.
package projection

import (
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// InboxItemKind is the kind of action that an inbox item needs from a person.
type InboxItemKind string

// The kinds of inbox items.
const (
	KindApproval InboxItemKind = "approval" // a person must agree: to a plan, a landing, a command
	KindQuestion InboxItemKind = "question" // a person must answer
	KindReview   InboxItemKind = "review"   // a person must review a change
	KindBudget   InboxItemKind = "budget"   // the budget is low or exhausted
	KindQuota    InboxItemKind = "quota"    // a provider accepts no calls for now
	KindConflict InboxItemKind = "conflict" // work does not merge
	KindFailure  InboxItemKind = "failure"  // a task is parked or failed, or an alert is active
	KindSignOff  InboxItemKind = "sign-off" // a criterion that only a person can judge
)

// InboxItem is an inbox item that waits for a person, or that a person should know about.
type InboxItem struct {
	humaninput.WaitingItem
	Kind    InboxItemKind  `json:"kind"`
	Task    nexus.TaskID   `json:"task,omitzero"`
	Title   string         `json:"title"`           // one line
	Blocks  bool           `json:"blocks"`          // work waits for the answer
	Notice  bool           `json:"notice,omitzero"` // nothing waits for it, and it is not counted
	Actions []PersonAction `json:"actions"`         // possible actions, the usual one first

	Estimate *nexus.PlanEstimate `json:"estimate,omitempty"` // of the plan in the question; nil: not about a plan
}

// BoardLane is a column of the board: who must act on a task next.
type BoardLane string

// The columns, in their display order.
const (
	LaneNeedsYou  BoardLane = "needs-you"
	LaneRunning   BoardLane = "running"
	LaneVerifying BoardLane = "verifying" // gates run
	LaneReview    BoardLane = "review"    // a reviewer or verifier works
	LaneLanding   BoardLane = "landing"
	LaneReady     BoardLane = "ready"
	LaneBlocked   BoardLane = "blocked"
	LaneStopped   BoardLane = "stopped" // paused, parked, failed or skipped
	LaneDone      BoardLane = "done"
)

// Lanes are all columns in their display order.
//
//nolint:gochecknoglobals // never written
var Lanes = []BoardLane{LaneNeedsYou, LaneRunning, LaneVerifying, LaneReview, LaneLanding, LaneReady, LaneBlocked, LaneStopped, LaneDone}

// ActionInputKind is the kind of input that an action needs.
type ActionInputKind string

// The inputs.
const (
	InputNone   ActionInputKind = ""
	InputText   ActionInputKind = "text"   // required
	InputReason ActionInputKind = "reason" // optional
)

// PersonAction is an action of a person on the selection: a command of the command line. Interfaces
// show it, ask for its input and its confirmation, and run its arguments.
type PersonAction struct {
	Name    string          `json:"name"`           // approve, reject, answer, tell, pause, skip, retry, stop, ...
	Label   string          `json:"label"`          // label of its button
	Key     string          `json:"key,omitzero"`   // of the keyboard, the same in all interfaces
	Args    []string        `json:"args,omitempty"` // of the command line, without the program; {} stands for the input
	Input   ActionInputKind `json:"input,omitzero"`
	Ask     string          `json:"ask,omitzero"`     // description of the input, for people
	Confirm string          `json:"confirm,omitzero"` // the consequence to agree to; empty: none
	Refused string          `json:"refused,omitzero"` // why it is not possible now; such an action has no Args
	Danger  bool            `json:"danger,omitzero"`  // it ends or undoes something
	Role    string          `json:"role"`             // minimum role: answer, steer or admin
}

// TaskCard is the form of a task in a list or on a board.
type TaskCard struct {
	view.TaskView
	Lane     BoardLane `json:"lane"`
	Stage    string    `json:"stage"`          // plan, work, gate, review, land, done
	Step     string    `json:"step,omitzero"`  // current step, in a few words
	Model    string    `json:"model,omitzero"` // of the session in progress, or agent/model
	Met      int       `json:"criteria_met"`   // criteria with evidence
	Criteria int       `json:"criteria"`
	Added    int       `json:"added"` // lines of the landed change, 0 before
	Deleted  int       `json:"deleted"`
	Worktree string    `json:"worktree,omitzero"` // absolute path; empty: none
	Branch   string    `json:"branch,omitzero"`
	Since    time.Time `json:"since,omitzero"`  // when it entered this column
	Retry    time.Time `json:"retry,omitzero"`  // time of the next try
	Silent   float64   `json:"silent,omitzero"` // seconds since the agent's last output, from 30 on
	Items    int       `json:"items"`           // number of inbox items about it
}

// BoardLaneCards is a column with its tasks: running ones by duration, others in the order of the
// plan.
type BoardLaneCards struct {
	Lane  BoardLane  `json:"lane"`
	Cards []TaskCard `json:"cards"`
}

// TaskDetailView holds all displayed details of a task.
type TaskDetailView struct {
	TaskCard
	Text       string                `json:"text"` // its description
	Why        []string              `json:"reasons,omitempty"`
	Files      []string              `json:"files,omitempty"` // files that it is expected to touch
	Dependents []nexus.TaskID        `json:"dependents,omitempty"`
	Checks     []CriterionView       `json:"checks"`
	Tries      []AttemptView         `json:"tries"` // oldest first
	Evidence   []view.CommitEvidence `json:"evidence,omitempty"`
	Actions    []PersonAction        `json:"actions"`
	Inbox      []InboxItem           `json:"inbox,omitempty"`
	Guidance   []string              `json:"guidance,omitempty"` // guidance of people for its agent
}

// CriterionView is a criterion of a task with its evidence.
type CriterionView struct {
	N        int    `json:"n"`
	Text     string `json:"text"`
	Check    string `json:"check,omitzero"` // command
	State    string `json:"state"`          // met, not-met, open, unclear
	Evidence string `json:"evidence,omitzero"`
}

// AttemptView is an attempt at a task.
type AttemptView struct {
	ID       nexus.AttemptID       `json:"id"`
	Tier     nexus.Tier            `json:"tier"`
	Strategy nexus.WritingStrategy `json:"strategy"`
	Base     string                `json:"base"`
	Outcome  nexus.Outcome         `json:"outcome,omitzero"` // empty while it is in progress
	Why      string                `json:"why,omitzero"`
	Began    time.Time             `json:"began"`
	Ended    time.Time             `json:"ended,omitzero"`
	Seconds  float64               `json:"seconds"` // time worked in it
	Rounds   []RoundView           `json:"rounds"`
	Sessions []SessionView         `json:"sessions"`
}

// RoundView is a round of work in an attempt, with its results.
type RoundView struct {
	N        int             `json:"n"`
	Role     nexus.Role      `json:"role"`
	Cause    string          `json:"cause,omitzero"` // why it was needed
	Gates    []GateView      `json:"gates"`
	Review   string          `json:"review,omitzero"`
	Findings []nexus.Finding `json:"findings,omitempty"` // of its gates and reviews
	State    nexus.GateState `json:"state,omitzero"`
}

// GateView is the result of a gate for a tree.
type GateView struct {
	Name     string          `json:"gate"`
	State    nexus.GateState `json:"state"`
	Seconds  float64         `json:"seconds"`
	Cached   bool            `json:"cached,omitzero"`
	Findings []nexus.Finding `json:"findings,omitempty"`
	Why      string          `json:"why,omitzero"`
	Raw      string          `json:"raw,omitzero"` // blob of its output
	At       time.Time       `json:"at"`
}

// SessionView is a conversation of an agent.
type SessionView struct {
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
	Silent  float64         `json:"silent,omitzero"` // seconds since its last output
}

// PlanGraph is the plan as a layered graph.
type PlanGraph struct {
	Nodes  []PlanGraphNode `json:"nodes"`
	Edges  []PlanGraphEdge `json:"edges"`
	Layers int             `json:"layers"`
}

// PlanGraphNode is a task of the graph.
type PlanGraphNode struct {
	ID       nexus.TaskID `json:"id"`
	Title    string       `json:"title"`
	Lane     BoardLane    `json:"lane"`
	Layer    int          `json:"layer"` // from 0; after all its dependencies
	Row      int          `json:"row"`   // in its layer, from 0
	Critical bool         `json:"critical"`
	Seconds  float64      `json:"seconds"` // actual or expected duration

	Group  string         `json:"group,omitzero"`  // group of the task
	Tasks  []nexus.TaskID `json:"tasks,omitempty"` // tasks of a folded group; none: it is a task
	Landed int            `json:"landed,omitzero"` // of those tasks
}

// PlanGraphEdge joins two tasks.
type PlanGraphEdge struct {
	From     nexus.TaskID `json:"from"`
	To       nexus.TaskID `json:"to"`
	Kind     string       `json:"kind"` // needs, follows or collides
	Critical bool         `json:"critical,omitzero"`
	Files    []string     `json:"files,omitempty"` // files that both touch, for collides
}

// RunTimeline holds the activities of a run over time.
type RunTimeline struct {
	From time.Time     `json:"from"`
	To   time.Time     `json:"to"`
	Rows []TimelineRow `json:"rows"`
}

// TimelineRow is an attempt, or the run's activities without a task.
type TimelineRow struct {
	Task    nexus.TaskID    `json:"task,omitzero"`
	Attempt nexus.AttemptID `json:"attempt,omitzero"`
	Label   string          `json:"label"`
	Spans   []TimelineSpan  `json:"spans"`
}

// TimelineSpan is a period of time.
type TimelineSpan struct {
	Stage string    `json:"stage"` // plan, work, gate, review, land, person, quota, setup or idle
	From  time.Time `json:"from"`
	To    time.Time `json:"to,omitzero"` // zero: open
	Label string    `json:"label,omitzero"`
	State string    `json:"state,omitzero"` // of a gate: pass, fail, ...
}

// RunCostView is what a run costs, in dollars.
type RunCostView struct {
	view.RunMoney
	Projected nexus.Money   `json:"projected,omitzero"` // at the end of the run; 0: unknown
	Cached    float64       `json:"cache_share"`        // of the input tokens, 0 to 1
	Estimated bool          `json:"estimated,omitzero"` // a part is priced by table
	Tasks     []RunCostPart `json:"tasks"`
	Roles     []RunCostPart `json:"roles"`
	Models    []RunCostPart `json:"models"`
	Stages    []RunCostPart `json:"stages"`
	Days      []RunCostPart `json:"days"`
}

// RunCostPart is a part of the cost.
type RunCostPart struct {
	Of     string      `json:"of"`
	Spent  nexus.Money `json:"spent"`
	Usage  nexus.Usage `json:"usage"`
	Calls  int         `json:"calls"`
	Cached float64     `json:"cache_share"`
}

// GateResultTable holds the results of the gates by task.
type GateResultTable struct {
	Gates []string        `json:"gates"` // in the order in which they run
	Rows  []GateResultRow `json:"rows"`
}

// GateResultRow is a task, with the last result of each gate.
type GateResultRow struct {
	Task  nexus.TaskID `json:"task"`
	Title string       `json:"title"`
	Gates []GateView   `json:"gates"` // the gates that judged it
}

// EventLogLine is an event in line form.
type EventLogLine struct {
	Seq   int64        `json:"seq"`
	At    time.Time    `json:"at"`
	Kind  string       `json:"kind"`
	Task  nexus.TaskID `json:"task,omitzero"`
	About string       `json:"about,omitzero"`
	Text  string       `json:"text"`
	Bad   bool         `json:"bad,omitzero"` // something failed
	Event nexus.Event  `json:"-"`            // the event itself
}
