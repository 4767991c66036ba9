package nexus

import (
	"cmp"
	"slices"
	"strings"
)

// Plan is the graph of tasks for a goal. Version is 1.
type Plan struct {
	Version int    `json:"version"`
	Goal    string `json:"goal"`
	// the run that only made this plan; its cost counts within the budget of the run that
	// carries it out
	Run      RunID         `json:"run,omitzero"`
	Estimate *PlanEstimate `json:"estimate,omitempty"` // forecast of time and cost; nothing depends on it
	Cover    *PlanCoverage `json:"cover,omitempty"`    // result of the coverage check; nil: not checked
	Tasks    []Task        `json:"tasks"`

	// the planner's assumptions about points that the goal does not mention
	Assumptions []string   `json:"assumptions,omitempty"`
	Foreseen    []PlanRisk `json:"foreseen,omitempty"` // risks that the planner sees
}

// PlanRisk is a risk of a plan that its planner sees.
type PlanRisk struct {
	Task       TaskID `json:"task,omitzero"` // empty: the plan as a whole
	Text       string `json:"text"`
	Mitigation string `json:"mitigation,omitzero"` // the measure against it
}

// TaskKind is the kind of change that a task makes.
type TaskKind string

// The kinds of task.
const (
	CodeTask TaskKind = "code"
	TestTask TaskKind = "test"
	DocsTask TaskKind = "docs" // needs no gate that covers its criteria
)

// Task is one reviewable change.
type Task struct {
	ID    TaskID   `json:"id"`
	Title string   `json:"title"`
	Brief string   `json:"brief,omitzero"` // instructions for the agent
	Kind  TaskKind `json:"kind,omitzero"`  // zero means code
	// feature that it belongs to; a nested one is written "outer / inner"
	Group    string   `json:"group,omitzero"`
	Priority Priority `json:"priority,omitzero"` // zero means medium
	Needs    []TaskID `json:"needs,omitempty"`   // tasks that must land first
	// soft needs: it waits for them, and starts without the ones that will not land
	Wants []TaskID          `json:"wants,omitempty"`
	Ties  DependencyReasons `json:"ties,omitempty"` // why it needs or wants a task; missing means blocks
	// ids of the requirements, or statements of the goal, that it serves (decide/spec)
	Covers []string `json:"covers,omitempty"`
	// directory of its package, in a repository with several packages
	Package string `json:"package,omitzero"`
	// slash-separated paths that it will touch, relative to the root
	Files      []string        `json:"files,omitempty"`
	Criteria   []Criterion     `json:"criteria,omitempty"`  // conditions that must be true when it is done
	Minutes    int             `json:"minutes,omitzero"`    // estimate; 0 is unknown
	Complexity Complexity      `json:"complexity,omitzero"` // estimated difficulty; zero: routing decides
	Tier       Tier            `json:"tier,omitzero"`       // starting tier; zero: routing decides
	Model      string          `json:"model,omitzero"`      // pins provider/model
	Strategy   WritingStrategy `json:"strategy,omitzero"`   // zero: routing decides
	Tags       []string        `json:"tags,omitempty"`      // topics: ui, cli, ...
	Reason     string          `json:"reason,omitzero"`     // why it needs no test
	Depth      int             `json:"depth,omitzero"`      // number of splits between it and an original task
	Keep       []string        `json:"keep,omitempty"`      // files that its work does not change
}

// Priority is the importance of a task: of the tasks that can start, the most important one
// starts first.
type Priority string

// Values of Priority.
const (
	PriorityCritical Priority = "critical"
	PriorityHigh     Priority = "high"
	PriorityMedium   Priority = "medium"
	PriorityLow      Priority = "low"
	PriorityTrivial  Priority = "trivial"
)

// Priorities returns all priorities, most important first.
func Priorities() []Priority {
	return []Priority{PriorityCritical, PriorityHigh, PriorityMedium, PriorityLow, PriorityTrivial}
}

// IsKnown reports whether p is one of [Priorities].
func (p Priority) IsKnown() bool { return slices.Contains(Priorities(), p) }

// NumericScore returns the priority as a number, from 1000 for critical down to 200 for trivial
// (spec/predecessors.md 1B.2). The zero value counts as medium.
func (p Priority) NumericScore() int {
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

// ParsePriority reads a priority in one of the usual notations: its name, P0 to P3 or MoSCoW.
// It returns false for any other word.
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
		return Priority(word), Priority(word).IsKnown()
	}
}

// Prerequisites returns the tasks that must have ended before t starts: those that it needs and those
// that it wants.
func (t Task) Prerequisites() []TaskID {
	if len(t.Wants) == 0 {
		return t.Needs
	}
	return slices.Concat(t.Needs, t.Wants)
}

// DependencyReasons maps other tasks to the reason why a task depends on them.
type DependencyReasons map[TaskID]DependencyReason

// DependencyReason is the reason why one task depends on another.
type DependencyReason string

// A dependency without a tie counts as blocks.
const (
	TieBlocks DependencyReason = "blocks"
	TieFile   DependencyReason = "file"   // both change the same file
	TieSchema DependencyReason = "schema" // it uses data whose schema the other defines
	TieAPI    DependencyReason = "api"    // it calls an API that the other adds
)

// AllDependencyReasons lists the ties.
func AllDependencyReasons() []DependencyReason {
	return []DependencyReason{TieBlocks, TieFile, TieSchema, TieAPI}
}

// Criterion is one thing that must be true when a task is done.
type Criterion struct {
	Text string `json:"text"`
	// a gate's name, or a command that exits with 0 if it is true; empty: a person must check
	// it
	Check string `json:"check,omitzero"`
	// its command was read from the goal: it shows nothing unless it fails without the change
	Red bool `json:"red,omitzero"`
	// result of its command on the tree that the plan was made for; empty: not run
	Tried string `json:"tried,omitzero"`
	Unfit bool   `json:"unfit,omitzero"` // its command is useless as a check, for the reason in Tried
	Was   string `json:"was,omitzero"`   // an earlier check command that was useless

	// kind of statement, set by the planner or a person; empty: changed behavior
	Kind CriterionKind `json:"kind,omitzero"`
}

// AskedFor is the reason for no-test if a person requested it for a whole plan.
const AskedFor = "a person asked for it"

// SetStartTier sets the starting tier and the strategy, if they are given. With force they replace
// the task's own values.
func (t *Task) SetStartTier(tier Tier, s WritingStrategy, force bool) {
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

// TaskStatus is the state of a task.
type TaskStatus string

// The states of a task. Ready is computed, never stored.
const (
	Pending   TaskStatus = "pending"
	Running   TaskStatus = "running"
	Reviewing TaskStatus = "reviewing"
	Boarding  TaskStatus = "boarding" // accepted; waits in the landing queue or is being landed
	Landed    TaskStatus = "landed"
	Blocked   TaskStatus = "blocked" // a task it needs will not land
	Parked    TaskStatus = "parked"  // waits for a person
	Failed    TaskStatus = "failed"  // all allowed attempts failed
	Skipped   TaskStatus = "skipped"
	Split     TaskStatus = "split" // its parts replace it
)

// HasEnded reports whether the task has ended and cannot continue by itself.
func (s TaskStatus) HasEnded() bool {
	switch s {
	case Landed, Blocked, Parked, Failed, Skipped, Split:
		return true
	default:
		return false
	}
}

// RunStatus is the state of a run.
type RunStatus string

// The last five are final.
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
	StatusInterrupted RunStatus = "interrupted" // computed: not running, and not finished
	StatusWaiting     RunStatus = "waiting"     // for a person's answer
)

// HasEnded reports whether the run is over.
func (s RunStatus) HasEnded() bool {
	switch s {
	case StatusDone, StatusPartial, StatusFailed, StatusStopped, StatusLimit, StatusWaiting:
		return true
	default:
		return false
	}
}
