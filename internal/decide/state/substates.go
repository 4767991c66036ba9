package state

import (
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/budget"
	"github.com/nexus-ai-builder/nexus/internal/decide/clarify"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// PlanProgress is how the plan is made and agreed to.
type PlanProgress struct {
	Planning    *AttemptState // the sessions that make the plan; nil before
	PlanTries   int
	Interview   clarify.InterviewState // the interview about the goal
	Proposed    int                    // tasks of the proposed plan; 0 if there is none
	Cover       *nexus.PlanCoverage    // result of the plan's coverage check; nil: not checked
	Assumed     []string               // assumptions of the plan
	Foreseen    []nexus.PlanRisk       // risks of the plan that its planner sees
	Planned     bool                   // the plan is approved
	Consent     PlanApprovalState
	PlanError   string
	PlanOutcome nexus.Outcome // why there is no plan, as an outcome if it has one
}

// ComplexityRating is which tasks a model was asked to rate, and its answers.
type ComplexityRating struct {
	Judging *AttemptState // the session that estimates tasks' complexity; nil before
	Judged  int           // number of such sessions

	asked map[nexus.TaskID]bool // a model was asked for its complexity
	told  map[nexus.TaskID]nexus.ComplexityRating
}

// BranchState is the run's branch, and the attempts that wait to land on it.
type BranchState struct {
	Tip            string              // last commit on the run's branch; the base before the first landing
	Queue          []*QueuedLanding    // the landing queue: accepted attempts that wait to land
	CurrentLanding *QueuedLanding      // the attempt that is landing
	Landings       []*CompletedLanding // landed commits, in order
	TargetMerge    TargetMerge         // merge of the landed commits onto a target that moved
}

// DeliveryState is the end of the run and its result.
type DeliveryState struct {
	Drain     *nexus.RunDrainStarted
	Result    *nexus.FinalGatesJudged
	Published *nexus.ResultPublished

	deliver bool // it was reopened only to publish and merge the landed commits
	out     bool // the landed commits were published, now or before
}

// RequestAndQuestionState is what people asked for, and what they are asked.
type RequestAndQuestionState struct {
	Alone     bool             // no person answers questions
	Patience  time.Duration    // how long questions wait for an answer; 0: forever
	Requests  []PendingRequest // open requests, in order
	Requested int64            // sequence number of the last request
	Questions []*RunQuestion
	Guidance  []Guidance     // undelivered guidance, in order
	Additions []*RunAddition // additions after the plan, in order; rejected ones are removed
	AddTries  int            // sessions that made tasks of them

	paused []*TaskState // tasks that people paused, in order; see [TaskState.IsPaused]
	waived []string     // criteria that people waived or approved
}

// MoneyState is what the run costs and may cost, and the accounts that pay for it.
type MoneyState struct {
	Ledger   budget.MoneyLedger
	Spending budget.RunCostBreakdown
	OverCap  *nexus.BudgetRefused // the refusal by a cap that affects more than one task
	Pressed  int                  // last reported percentage of a cap
	Parked   []PausedAccount      // accounts without quota, in the order in which they ran out
	// limits of accounts as agent programs reported them, in the order of the first reports
	Windows []AccountQuotaWindow
}

// RunPoints are the points that a person may go back to.
type RunPoints struct {
	Checkpoints []*RunCheckpoint // named points, in order
	Rewinds     []RunRewind      // rewinds of the run, in order
	Undo        LandingUndo      // revert of landed changes

	stirred bool // something happened since the last checkpoint
}
