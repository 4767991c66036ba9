// Package nexus holds the words that every floor speaks: goals, plans, tasks,
// attempts, evidence, money, and the facts and requests that make up a run.
//
// Words are plain values with tiny pure methods. Their zero values are the
// safe ones: a [Verdict] nobody filled in has not passed, a [GateState] nobody
// set is [NotRun], and a zero [Money] has bought nothing.
package nexus

import (
	"cmp"
	"time"
)

// RunID names one run: a goal on its way to done.
type RunID string

// TaskID names a task within its plan.
type TaskID string

// AttemptID names one try at one task within its run, such as "T3.2".
type AttemptID string

// SessionID names one conversation between a role and a model within an
// attempt, such as "T3.2/coder.1".
type SessionID string

// Goal is what the user wants, as accepted.
type Goal struct {
	Text string `json:"text"`
	Mode Mode   `json:"mode,omitzero"`

	Tier     Tier     `json:"tier,omitzero"`     // where every task of a plan that is made starts; empty leaves it to the planner
	Strategy Strategy `json:"strategy,omitzero"` // of every task of a plan that is made

	Depth    string `json:"depth,omitzero"`    // of the spec that is written of it
	Research bool   `json:"research,omitzero"` // researchers report first

	Source  string `json:"source,omitzero"`  // address of the issue or text that it was read from
	Comment bool   `json:"comment,omitzero"` // one comment on that issue says how the run stands

	Origin string `json:"origin,omitzero"` // conversation of a client that it comes from (docs/integrate.md)
}

// Mode records how a run came to its plan.
type Mode string

// The modes.
const (
	Evolution Mode = "evolution" // a goal for an existing repository
	Quick     Mode = "quick"     // one task, same gates
	Draft     Mode = "draft"     // a plan and no work
	Interview Mode = "interview" // questions until the goal is clear, and no work
	Backlog   Mode = "backlog"   // no plan: all tasks come of items that are added
	Specify   Mode = "specify"   // a spec of the goal, and no work
	Improve   Mode = "improve"   // a loop: each piece of its work is a run of its own
)

// Works reports whether a run of that mode works on tasks.
func (m Mode) Works() bool { return m != Draft && m != Interview && m != Specify && m != Improve }

// Tier is how strong, and how expensive, a model is.
type Tier string

// The tiers, weakest first.
const (
	Fast     Tier = "fast"
	Balanced Tier = "balanced"
	Strong   Tier = "strong"
)

// Next returns the tier above t, and false at the top. The zero Tier counts
// as [Fast].
func (t Tier) Next() (Tier, bool) {
	switch cmp.Or(t, Fast) {
	case Fast:
		return Balanced, true
	case Balanced:
		return Strong, true
	default:
		return Strong, false
	}
}

// Below reports whether t is weaker than another. The zero Tier is below none,
// and none is below it.
func (t Tier) Below(other Tier) bool {
	if t == "" || other == "" {
		return false
	}
	for up, ok := t.Next(); ok; up, ok = up.Next() {
		if up == other {
			return true
		}
	}
	return false
}

// Known reports whether t is one of the three tiers.
func (t Tier) Known() bool { return t == Fast || t == Balanced || t == Strong }

// Role names an agent's prompt, tools and tier.
type Role string

// The roles that Nexus brings along.
const (
	Planner    Role = "planner"
	Coder      Role = "coder"
	Tester     Role = "tester"
	Reviewer   Role = "reviewer"
	Merger     Role = "merger"
	Router     Role = "router"     // says how hard tasks are
	Scout      Role = "scout"      // looks into a question for another agent
	Checker    Role = "checker"    // says whether a plan covers its goal
	Reproducer Role = "reproducer" // writes a test of what is wrong from the goal and the base, and sees nothing of the change
	Specifier  Role = "specifier"  // turns a goal into a spec
	Researcher Role = "researcher" // reports what a spec should be written with
	Documenter Role = "documenter" // describes the code for people and other agents
	Suggester  Role = "suggester"  // suggests improvements of a repository
	Verifier   Role = "verifier"   // says whether tests that judge were left alone, and the criteria are met

	Explainer Role = "explainer" // explains to people what happened in a run
	Editor    Role = "editor"    // does what a step of the pipeline asks for, with work that is green

	Interviewer Role = "interviewer" // turns what people say into requirements, and says what is open

	Assistant Role = "assistant" // works outside of any run and answers in text
)

// Process names one process that conducted a run. Start makes a reused PID
// distinguishable: it is the kernel's start time of the process in clock
// ticks since boot, 0 where unknown.
type Process struct {
	PID   int    `json:"pid"`
	Host  string `json:"host"`
	Start uint64 `json:"start,omitzero"`
}

// Limits are the caps of a run. They only bound; nothing ever resets what is
// counted against them. A zero field means no cap, except where noted.
type Limits struct {
	Parallel      int           `json:"parallel"`                // attempts at once; 0 means 1
	PerRole       map[Role]int  `json:"per_role,omitempty"`      // sessions of a role at once
	Turns         int           `json:"turns"`                   // model calls in a session
	Rounds        int           `json:"rounds"`                  // times the agent may write, over all attempts of a task
	PerTier       map[Tier]int  `json:"per_tier,omitempty"`      // attempts of a task at a tier
	Dispatches    int           `json:"dispatches,omitzero"`     // attempts started in a run
	Same          int           `json:"same"`                    // equal failures, or equal trees, that end a repair
	ReviewRounds  int           `json:"review_rounds,omitzero"`  // rejected reviews in an attempt
	Losses        int           `json:"losses,omitzero"`         // times an attempt may lose its process before it gets anywhere
	LandTries     int           `json:"land_tries,omitzero"`     // times an accepted attempt may be refused by the train; 0 means 1
	Batch         int           `json:"batch,omitzero"`          // small tasks that one coder's session does, one after the other; 0 and 1: each has its own
	Parts         int           `json:"parts,omitzero"`          // most tasks that one is split into when it is stuck; 0: none is
	Depth         int           `json:"depth,omitzero"`          // times that a part may come of a split
	Size          Size          `json:"size,omitzero"`           // of a task that is planned
	SecondLook    SecondLook    `json:"second_look,omitzero"`    // which plans are held against their goal; zero is auto
	Fixes         int           `json:"fixes,omitzero"`          // rounds of tasks that fix unmet criteria of what landed; 0: none
	Refusals      int           `json:"refusals,omitzero"`       // of the plan, with a reason: after each another one is made
	Calls         int           `json:"calls,omitzero"`          // tool calls in a session
	ToolCalls     int           `json:"tool_calls,omitzero"`     // calls of one tool in a session
	FailedCalls   int           `json:"failed_calls,omitzero"`   // tool calls in a session that failed
	FailedInRow   int           `json:"failed_in_row,omitzero"`  // of those, one after the other
	SessionTokens int64         `json:"session_tokens,omitzero"` // input and output tokens of a session
	Quota         int           `json:"quota,omitzero"`          // percent of an agent program's window at which it begins no session; 0 means 95
	Compact       int           `json:"compact,omitzero"`        // percent of what a model holds at which a conversation is compacted; 0 means 70
	TurnTime      time.Duration `json:"turn_time,omitzero"`      // silence of the model in a turn
	AnswerTime    time.Duration `json:"answer_time,omitzero"`    // one answer of the model, from the request to its end
	GateTime      time.Duration `json:"gate_time,omitzero"`      // one gate
	SessionTime   time.Duration `json:"session_time,omitzero"`   // one session
	TaskTime      time.Duration `json:"task_time,omitzero"`      // all attempts of a task together
	RunTime       time.Duration `json:"run_time,omitzero"`       // the run
	RunMoney      Money         `json:"run_money"`               // the run; 0 buys nothing
	TaskMoney     Money         `json:"task_money,omitzero"`     // one task
	DayMoney      Money         `json:"day_money,omitzero"`      // all runs of a calendar day, UTC, of all repositories

	RoleMoney     map[Role]Money   `json:"role_money,omitempty"`     // all sessions of a role
	ProviderMoney map[string]Money `json:"provider_money,omitempty"` // all calls of a provider
	RunTokens     int64            `json:"run_tokens,omitzero"`      // that models without a known price may use; 0 means none
	MajorsBlock   int              `json:"majors_block"`             // major review findings that block; 0 means 1
	Approval      Approval         `json:"approval,omitzero"`        // what waits for a person
	Alerts        Alerts           `json:"alerts,omitzero"`          // when people are told that something is odd
	Replan        Replan           `json:"replan,omitzero"`          // when it is decided anew how a task continues
	Items         int              `json:"items,omitzero"`           // of the backlog that are worked on at once; 0: any
	Step          bool             `json:"step,omitzero"`            // one task at a time, and a person is asked before each
	Points        Points           `json:"points,omitzero"`          // which checkpoints it makes by itself
	Review        ChangeRules      `json:"review,omitzero"`          // which changes people review before they land
}

// Size is how large a task may be that is planned.
type Size struct {
	Minutes    int `json:"minutes,omitzero"`    // of its estimate; 0 means 30
	Files      int `json:"files,omitzero"`      // that it names; 0 means 5
	Criteria   int `json:"criteria,omitzero"`   // 0 means 6
	Characters int `json:"characters,omitzero"` // of its brief and criteria together; 0 means 2,000
}

// DefaultLimits returns the documented defaults.
func DefaultLimits() Limits {
	return Limits{
		Parallel: 4, Batch: 1, Turns: 60, Rounds: 50, Same: 3, ReviewRounds: 3, Losses: 5, LandTries: 3, Fixes: 2, Refusals: 5, Parts: 5, Depth: 3, Size: Size{Minutes: 30, Files: 5, Criteria: 6, Characters: 2000},
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
		Alerts: Alerts{
			Denials: 10, Failures: 5, Stuck: 5 * time.Minute, Tokens: 90, Rounds: 25, Denied: ReactTell,
			Memory: 95, Disk: 1 << 30, Lasting: 30 * time.Second,
		},
		Replan: Replan{Time: 150, Least: 5 * time.Minute, Rounds: 40, Files: 3, Failures: 5},
	}
}
