// Package nexus contains the types that all other packages share: goals, plans, tasks,
// attempts, evidence, money, and the facts and requests that make up a run.
//
// The types are plain values with small pure methods. Their zero values are the safe ones: an
// empty [GatesVerdict] has not passed, an unset [GateState] is [NotRun], and a zero [Money] buys
// nothing.
package nexus

import (
	"cmp"
	"time"
)

// RunID names one run, which carries out one goal.
type RunID string

// TaskID names a task within its plan.
type TaskID string

// AttemptID names one attempt at one task within its run, such as "T3.2".
type AttemptID string

// SessionID names one conversation between a role and a model within an
// attempt, such as "T3.2/coder.1".
type SessionID string

// Goal is the user's goal, as accepted.
type Goal struct {
	Text string       `json:"text"`
	Mode PlanningMode `json:"mode,omitzero"`

	// starting tier of every task of the plan; empty: the planner decides
	Tier     Tier            `json:"tier,omitzero"`
	Strategy WritingStrategy `json:"strategy,omitzero"` // strategy of every task of the plan

	Depth    string `json:"depth,omitzero"`    // depth of the spec that is written for it
	Research bool   `json:"research,omitzero"` // researchers write reports first

	Source  string `json:"source,omitzero"`  // address of the issue or text that it was read from
	Comment bool   `json:"comment,omitzero"` // a comment on that issue reports the state of the run

	Origin string `json:"origin,omitzero"` // conversation of the client that sent it (docs/integrate.md)
}

// PlanningMode is how a run gets its plan.
type PlanningMode string

// The modes.
const (
	Evolution PlanningMode = "evolution" // a goal for an existing repository
	Quick     PlanningMode = "quick"     // one task with the same gates
	Draft     PlanningMode = "draft"     // a plan, without work
	Interview PlanningMode = "interview" // questions until the goal is clear, without work
	Backlog   PlanningMode = "backlog"   // no plan: all tasks come from items that are added
	Specify   PlanningMode = "specify"   // a spec of the goal, without work
	Improve   PlanningMode = "improve"   // a loop: each item of its work is a run of its own
)

// WorksOnTasks reports whether a run of that mode works on tasks.
func (m PlanningMode) WorksOnTasks() bool {
	return m != Draft && m != Interview && m != Specify && m != Improve
}

// Tier is how strong, and how expensive, a model is.
type Tier string

// The tiers, weakest first.
const (
	Fast     Tier = "fast"
	Balanced Tier = "balanced"
	Strong   Tier = "strong"
)

// NextTier returns the tier above t, or false at the top. The zero value counts as [Fast].
func (t Tier) NextTier() (Tier, bool) {
	switch cmp.Or(t, Fast) {
	case Fast:
		return Balanced, true
	case Balanced:
		return Strong, true
	default:
		return Strong, false
	}
}

// IsBelow reports whether t is weaker than another tier. It is false if one of them is the zero
// Tier.
func (t Tier) IsBelow(other Tier) bool {
	if t == "" || other == "" {
		return false
	}
	for up, ok := t.NextTier(); ok; up, ok = up.NextTier() {
		if up == other {
			return true
		}
	}
	return false
}

// IsKnown reports whether t is one of the three tiers.
func (t Tier) IsKnown() bool { return t == Fast || t == Balanced || t == Strong }

// Role names an agent's prompt, tools and tier.
type Role string

// The built-in roles.
const (
	Planner  Role = "planner"
	Coder    Role = "coder"
	Tester   Role = "tester"
	Reviewer Role = "reviewer"
	Merger   Role = "merger"
	Router   Role = "router"  // estimates the complexity of tasks
	Scout    Role = "scout"   // a subagent: researches a question for another agent
	Checker  Role = "checker" // checks whether a plan covers its goal
	// writes a test for the goal from the goal and the base, without seeing the change.
	Reproducer Role = "reproducer"
	Specifier  Role = "specifier"  // turns a goal into a spec
	Researcher Role = "researcher" // researches the background of a spec
	Documenter Role = "documenter" // describes the code for people and other agents
	Suggester  Role = "suggester"  // suggests improvements to a repository
	Verifier   Role = "verifier"   // checks that existing tests were not weakened and that the criteria are met

	Explainer Role = "explainer" // explains to people what happened in a run
	Editor    Role = "editor"    // does a step of the pipeline on work that passed the gates

	Interviewer Role = "interviewer" // turns people's answers into requirements, and lists open points

	Assistant Role = "assistant" // works outside any run and answers in text
)

// RunProcess identifies a process that conducted a run. Start distinguishes processes that reuse
// a PID: it is the process's start time from the kernel, in clock ticks since boot, or 0 if
// unknown.
type RunProcess struct {
	PID   int    `json:"pid"`
	Host  string `json:"host"`
	Start uint64 `json:"start,omitzero"`
}

// Limits are the caps of a run. The counters behind them are never reset. A zero field means
// no cap, except where noted.
type Limits struct {
	Parallel int          `json:"parallel"`           // attempts at once; 0 means 1
	PerRole  map[Role]int `json:"per_role,omitempty"` // sessions of a role at once
	Turns    int          `json:"turns"`              // model calls in a session
	// rounds in which the agent may write, over all attempts of a task
	Rounds     int          `json:"rounds"`
	PerTier    map[Tier]int `json:"per_tier,omitempty"`  // attempts of a task at a tier
	Dispatches int          `json:"dispatches,omitzero"` // attempts started in a run
	// equal failures, or equal trees, that end a repair
	Same         int `json:"same"`
	ReviewRounds int `json:"review_rounds,omitzero"` // rejected reviews in an attempt
	// times that an attempt may lose its process without progress
	Losses int `json:"losses,omitzero"`
	// times that the landing queue may refuse an accepted attempt; 0 means 1
	LandTries int `json:"land_tries,omitzero"`
	// small tasks that one coder's session does, one after the other; 0 and 1: one task per
	// session
	Batch int `json:"batch,omitzero"`
	// maximum number of parts into which a stuck task is split; 0: it is not split
	Parts      int               `json:"parts,omitzero"`
	Depth      int               `json:"depth,omitzero"`       // maximum depth of repeated splits
	Size       TaskSizeLimits    `json:"size,omitzero"`        // maximum size of a planned task
	SecondLook CoverageCheckMode `json:"second_look,omitzero"` // plans that get a coverage check; zero is auto
	// rounds of tasks that fix unmet criteria of the landed tree; 0: none
	Fixes int `json:"fixes,omitzero"`
	// refusals of the plan with a reason, after each of which another plan is made
	Refusals      int   `json:"refusals,omitzero"`
	Calls         int   `json:"calls,omitzero"`          // tool calls in a session
	ToolCalls     int   `json:"tool_calls,omitzero"`     // calls of the same tool in a session
	FailedCalls   int   `json:"failed_calls,omitzero"`   // failed tool calls in a session
	FailedInRow   int   `json:"failed_in_row,omitzero"`  // failed tool calls in a row
	SessionTokens int64 `json:"session_tokens,omitzero"` // input and output tokens of a session
	// percentage of an agent program's quota window at which it starts no session; 0 means 95
	Quota int `json:"quota,omitzero"`
	// percentage of the model's context at which a conversation is compacted; 0 means 70
	Compact     int           `json:"compact,omitzero"`
	TurnTime    time.Duration `json:"turn_time,omitzero"`    // silence of the model within a turn
	AnswerTime  time.Duration `json:"answer_time,omitzero"`  // one answer of the model, from request to end
	GateTime    time.Duration `json:"gate_time,omitzero"`    // one gate
	SessionTime time.Duration `json:"session_time,omitzero"` // one session
	TaskTime    time.Duration `json:"task_time,omitzero"`    // all attempts of a task together
	RunTime     time.Duration `json:"run_time,omitzero"`     // the run
	RunMoney    Money         `json:"run_money"`             // the run; 0 allows no spending
	TaskMoney   Money         `json:"task_money,omitzero"`   // one task
	// all runs of a calendar day, UTC, of all repositories
	DayMoney Money `json:"day_money,omitzero"`

	RoleMoney     map[Role]Money   `json:"role_money,omitempty"`     // all sessions of a role
	ProviderMoney map[string]Money `json:"provider_money,omitempty"` // all calls of a provider
	// tokens for models without a known price; 0 means none
	RunTokens   int64           `json:"run_tokens,omitzero"`
	MajorsBlock int             `json:"majors_block"`      // major review findings that block; 0 means 1
	Approval    ApprovalMode    `json:"approval,omitzero"` // actions that need a person's approval
	Alerts      AlertThresholds `json:"alerts,omitzero"`   // problems about which people are notified
	// thresholds at which the continuation of a task is decided again
	Replan ReplanLimits `json:"replan,omitzero"`
	// items of the backlog that are worked on at once; 0: any number
	Items int `json:"items,omitzero"`
	// one task at a time, and a person is asked before each
	Step   bool              `json:"step,omitzero"`
	Points CheckpointPolicy  `json:"points,omitzero"` // checkpoints that the run makes automatically
	Review PersonReviewRules `json:"review,omitzero"` // changes that people review before they land
}

// TaskSizeLimits is the maximum size of a planned task.
type TaskSizeLimits struct {
	Minutes    int `json:"minutes,omitzero"`    // estimated minutes; 0 means 30
	Files      int `json:"files,omitzero"`      // declared files; 0 means 5
	Criteria   int `json:"criteria,omitzero"`   // 0 means 6
	Characters int `json:"characters,omitzero"` // of its brief and criteria together; 0 means 2,000
}

// DefaultLimits returns the documented defaults. Those without a setting are constants here: the calls of a
// session (a session that works uses a tenth), what can be lost or fail to land before a person is asked, the
// size of tasks that one session does well (measured with the planner's checks), and the thresholds of alerts
// and of stuck tasks, which were measured on recorded runs.
func DefaultLimits() Limits {
	return Limits{
		Parallel: 4, Batch: 1, Turns: 60, Rounds: 50, Same: 3, ReviewRounds: 3, Losses: 5, LandTries: 3, Fixes: 2, Refusals: 5, Parts: 5, Depth: 3, Size: TaskSizeLimits{Minutes: 30, Files: 5, Criteria: 6, Characters: 2000},
		PerTier:    map[Tier]int{Fast: 5, Balanced: 3, Strong: 2},
		Dispatches: 500, Calls: 600, ToolCalls: 400, FailedCalls: 150, FailedInRow: 20,
		SecondLook:  LookAuto,
		Quota:       95,
		Compact:     70,
		TurnTime:    5 * time.Minute,
		AnswerTime:  30 * time.Minute,
		GateTime:    10 * time.Minute,
		SessionTime: time.Hour,
		TaskTime:    time.Hour,
		RunTime:     8 * time.Hour,
		RunMoney:    5 * Dollar,
		DayMoney:    20 * Dollar,
		MajorsBlock: 1,
		Approval:    ApproveNone,
		Items:       3,
		Alerts: AlertThresholds{
			Denials: 10, Failures: 5, Stuck: 5 * time.Minute, Tokens: 90, Rounds: 25, Denied: ReactTell,
			Memory: 95, Disk: 1 << 30, Lasting: 30 * time.Second,
		},
		Replan: ReplanLimits{Time: 150, Least: 5 * time.Minute, Rounds: 40, Files: 3, Failures: 5},
	}
}
