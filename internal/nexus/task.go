package nexus

import (
	"cmp"
	"slices"
	"strings"
)

// Plan is the graph of tasks that a goal was turned into. Version is 1.
type Plan struct {
	Version  int        `json:"version"`
	Goal     string     `json:"goal"`
	Run      RunID      `json:"run,omitzero"`       // that only made it: what that cost counts within the budget of whoever carries it out
	Estimate *Estimate  `json:"estimate,omitempty"` // what it was thought to take; nothing depends on it
	Cover    *PlanCover `json:"cover,omitempty"`    // what a second look at it found; nil: nobody looked
	Tasks    []Task     `json:"tasks"`

	Assumptions []string   `json:"assumptions,omitempty"` // what its planner took for granted where the goal said nothing
	Foreseen    []PlanRisk `json:"foreseen,omitempty"`    // what its planner thinks may go wrong
}

// PlanRisk is something that may go wrong with a plan, as its planner thinks.
type PlanRisk struct {
	Task       TaskID `json:"task,omitzero"` // empty: the plan as a whole
	Text       string `json:"text"`
	Mitigation string `json:"mitigation,omitzero"` // what is done about it, or can be
}

// TaskKind says what sort of change a task makes.
type TaskKind string

// The kinds of task.
const (
	CodeTask TaskKind = "code"
	TestTask TaskKind = "test"
	DocsTask TaskKind = "docs" // needs no gate that covers its criteria
)

// Task is one reviewable change.
type Task struct {
	ID         TaskID      `json:"id"`
	Title      string      `json:"title"`
	Brief      string      `json:"brief,omitzero"`      // what to do, for the one who does it
	Kind       TaskKind    `json:"kind,omitzero"`       // zero means code
	Group      string      `json:"group,omitzero"`      // the feature it belongs to; one within another is written "outer / inner"
	Priority   Priority    `json:"priority,omitzero"`   // zero means medium
	Needs      []TaskID    `json:"needs,omitempty"`     // tasks that must land first
	Wants      []TaskID    `json:"wants,omitempty"`     // soft needs: it waits for them, and starts without those that will not land
	Ties       Ties        `json:"ties,omitempty"`      // why it needs or wants a task; missing means blocks
	Covers     []string    `json:"covers,omitempty"`    // ids of the requirements, or of the statements of the goal, that it serves (decide/spec)
	Package    string      `json:"package,omitzero"`    // directory of the package of the repository that it is about, where there are several
	Files      []string    `json:"files,omitempty"`     // slash-separated paths it will touch, relative to the root
	Criteria   []Criterion `json:"criteria,omitempty"`  // what must be true when it is done
	Minutes    int         `json:"minutes,omitzero"`    // estimate; 0 is unknown
	Complexity Complexity  `json:"complexity,omitzero"` // how hard it looks; zero leaves it to routing
	Tier       Tier        `json:"tier,omitzero"`       // where to start; zero leaves it to routing
	Model      string      `json:"model,omitzero"`      // pins provider/model
	Strategy   Strategy    `json:"strategy,omitzero"`   // zero leaves it to routing
	Tags       []string    `json:"tags,omitempty"`      // what it is about: ui, cli, ...
	Reason     string      `json:"reason,omitzero"`     // why no-test is right
	Depth      int         `json:"depth,omitzero"`      // times it was split off a larger task
	Keep       []string    `json:"keep,omitempty"`      // files that its work leaves as they are
}

// Priority is how much a task matters: of those that can start, the one that matters more starts first.
type Priority string

// The priorities, most important first.
const (
	PriorityCritical Priority = "critical"
	PriorityHigh     Priority = "high"
	PriorityMedium   Priority = "medium"
	PriorityLow      Priority = "low"
	PriorityTrivial  Priority = "trivial"
)

// Priorities lists the priorities, most important first.
func Priorities() []Priority {
	return []Priority{PriorityCritical, PriorityHigh, PriorityMedium, PriorityLow, PriorityTrivial}
}

// Known reports whether p is one of [Priorities].
func (p Priority) Known() bool { return slices.Contains(Priorities(), p) }

// Score is the priority as a number, from 1000 for critical down to 200 for trivial
// (spec/predecessors.md 1B.2). The zero Priority counts as medium.
func (p Priority) Score() int {
	switch p {
	case PriorityCritical:
		return 1000
	case PriorityHigh:
		return 800
	case PriorityLow:
		return 400
	case PriorityTrivial:
		return 200
	default:
		return 600
	}
}

// ParsePriority reads a priority as people and other tools write it: its name, P0 to P3 or MoSCoW.
// It reports false for any other word.
func ParsePriority(word string) (Priority, bool) {
	switch word = strings.ToLower(strings.TrimSpace(word)); word {
	case "p0", string(Must):
		return PriorityCritical, true
	case "p1", string(Should):
		return PriorityHigh, true
	case "p2", string(Could):
		return PriorityMedium, true
	case "p3", string(Wont), "won't":
		return PriorityLow, true
	default:
		return Priority(word), Priority(word).Known()
	}
}

// After returns the tasks that must have ended before t starts: what it needs, and what it wants.
func (t Task) After() []TaskID {
	if len(t.Wants) == 0 {
		return t.Needs
	}
	return slices.Concat(t.Needs, t.Wants)
}

// Ties says for which reason a task depends on others.
type Ties map[TaskID]Tie

// Tie is the reason why one task depends on another.
type Tie string

// The ties. A task that names none is blocked by the other one.
const (
	TieBlocks Tie = "blocks"
	TieFile   Tie = "file"   // both change one file
	TieSchema Tie = "schema" // it uses data whose form the other decides
	TieAPI    Tie = "api"    // it calls what the other makes
)

// AllTies lists the ties.
func AllTies() []Tie { return []Tie{TieBlocks, TieFile, TieSchema, TieAPI} }

// Criterion is one thing that must be true when a task is done.
type Criterion struct {
	Text  string `json:"text"`
	Check string `json:"check,omitzero"` // a gate's name, or a command that exits 0 when it is true; empty needs a person's eye
	Red   bool   `json:"red,omitzero"`   // its command was read out of the goal: it shows nothing unless it fails without the change
	Tried string `json:"tried,omitzero"` // what came of its command on the tree that the plan was made for; empty: nobody tried
	Unfit bool   `json:"unfit,omitzero"` // its command shows nothing, for the reason in Tried
	Was   string `json:"was,omitzero"`   // a command that was its check, and cannot tell

	Kind CriterionKind `json:"kind,omitzero"` // what it asks for, as the planner or a person says; empty: behavior that changes
}

// AskedFor is the reason for no-test where a person wants it for a whole plan.
const AskedFor = "a person asked for it"

// Prefer sets where the task starts and how, where that is given. It wins
// over what the task says if it is to be forced.
func (t *Task) Prefer(tier Tier, s Strategy, force bool) {
	if tier != "" && (force || t.Tier == "") {
		t.Tier = tier
	}
	if s != "" && (force || t.Strategy == "") {
		t.Strategy = s
	}
	if t.Strategy == NoTest {
		t.Reason = cmp.Or(t.Reason, AskedFor)
	}
}

// TaskStatus is where a task stands.
type TaskStatus string

// The states of a task. Ready is computed, never stored.
const (
	Pending   TaskStatus = "pending"
	Running   TaskStatus = "running"
	Reviewing TaskStatus = "reviewing"
	Boarding  TaskStatus = "boarding" // accepted, waits for or is on the train
	Landed    TaskStatus = "landed"
	Blocked   TaskStatus = "blocked" // a task it needs will not land
	Parked    TaskStatus = "parked"  // waits for a person
	Failed    TaskStatus = "failed"  // every way was tried
	Skipped   TaskStatus = "skipped"
	Split     TaskStatus = "split" // its parts stand in its place
)

// Ended reports whether nothing more will happen to the task by itself.
func (s TaskStatus) Ended() bool {
	switch s {
	case Landed, Blocked, Parked, Failed, Skipped, Split:
		return true
	default:
		return false
	}
}

// RunStatus is where a run stands.
type RunStatus string

// The states of a run. The last five are ends.
const (
	StatusIdle        RunStatus = "idle"
	StatusPlanning    RunStatus = "planning"
	StatusExecuting   RunStatus = "executing"
	StatusReviewing   RunStatus = "reviewing"
	StatusLanding     RunStatus = "landing"
	StatusRecovering  RunStatus = "recovering"
	StatusPaused      RunStatus = "paused"
	StatusDone        RunStatus = "done"
	StatusPartial     RunStatus = "partial"
	StatusFailed      RunStatus = "failed"
	StatusStopped     RunStatus = "stopped"
	StatusLimit       RunStatus = "limit"
	StatusInterrupted RunStatus = "interrupted" // computed: nobody conducts it, and it is not over
	StatusWaiting     RunStatus = "waiting"     // for the answer of a person
)

// Ended reports whether the run is over.
func (s RunStatus) Ended() bool {
	switch s {
	case StatusDone, StatusPartial, StatusFailed, StatusStopped, StatusLimit, StatusWaiting:
		return true
	default:
		return false
	}
}
