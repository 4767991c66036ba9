package nexus

import "time"

// HookPoint is a point in a run at which hooks, people's own commands, are run.
type HookPoint string

// The points, in the order of a run's life.
const (
	HookRunStart   HookPoint = "run.start"        // a process starts or continues the run, and nothing was done yet
	HookPlanReady  HookPoint = "plan.ready"       // a plan was made
	HookTaskStart  HookPoint = "task.start"       // the first attempt at a task starts
	HookAttempt    HookPoint = "attempt.start"    // an attempt starts, or continues
	HookAttemptEnd HookPoint = "attempt.end"      // an attempt ended
	HookGate       HookPoint = "gate.done"        // a gate judged a tree of an attempt
	HookReview     HookPoint = "review.done"      // a reviewer read a change
	HookTaskDone   HookPoint = "task.done"        // a task landed on the run's branch
	HookTaskParked HookPoint = "task.parked"      // a task is parked until a person decides
	HookTaskFailed HookPoint = "task.failed"      // a task failed after all allowed attempts
	HookQuestion   HookPoint = "question.asked"   // a question waits for an answer
	HookAlert      HookPoint = "alert.raised"     // a problem was found that no limit ends
	HookCalm       HookPoint = "alert.cleared"    // the problem is gone
	HookBudget     HookPoint = "budget.threshold" // a percentage of the money is used
	// the landed commits are about to be published from the private clone.
	HookRunLand   HookPoint = "run.land"
	HookRunLanded HookPoint = "run.landed" // they were published, or were refused
	HookRunEnd    HookPoint = "run.end"    // the run ended
)

// HookPoints returns all points, in the order of a run's life.
func HookPoints() []HookPoint {
	return []HookPoint{
		HookRunStart, HookPlanReady, HookTaskStart, HookAttempt, HookAttemptEnd, HookGate, HookReview, HookTaskDone, HookTaskParked,
		HookTaskFailed, HookQuestion, HookAlert, HookCalm, HookBudget, HookRunLand, HookRunLanded, HookRunEnd,
	}
}

// CanRefuse reports whether a hook at the point runs before its event and may refuse it. All
// other hooks run after their event.
func (p HookPoint) CanRefuse() bool { return p == HookRunStart || p == HookRunLand }

// HookCommandState is how a hook's command ended. The zero value is none of these.
type HookCommandState string

// Values of HookCommandState.
const (
	HookOK        HookCommandState = "ok"        // it exited with 0
	HookRefused   HookCommandState = "refused"   // it exited with 2
	HookFailed    HookCommandState = "failed"    // it exited with any other code
	HookTimeout   HookCommandState = "timeout"   // it reached its time limit and was killed with all its child processes
	HookKilled    HookCommandState = "killed"    // it used too much memory or wrote too much, and was killed
	HookNotRun    HookCommandState = "not run"   // there is no such program, or it could not be started
	HookUntrusted HookCommandState = "untrusted" // nobody has trusted it in its present form
)

// AllowsAction reports whether a hook that ended with this state allows its event. A hook that did
// not finish, and so could not refuse in time, does not allow it.
func (s HookCommandState) AllowsAction() bool { return s == HookOK || s == HookFailed }

// Facts about hooks that may refuse.
type (
	// StartHooksAsked is recorded before the hooks are asked whether work on the run may start.
	StartHooksAsked struct{}
	// StartHooksAnswered records the hooks' answer.
	StartHooksAnswered struct {
		Allowed bool   `json:"allowed"`
		Why     string `json:"why,omitzero"` // why not allowed
	}
	// HookRan records how a hook ended that may refuse. Other hooks are not recorded.
	HookRan struct {
		Hook     string           `json:"hook"` // its name in the configuration
		Point    HookPoint        `json:"point"`
		Commit   string           `json:"commit,omitzero"` // the commit that is to land
		State    HookCommandState `json:"state"`
		Exit     int              `json:"exit"` // -1 if it was killed
		Why      string           `json:"why,omitzero"`
		Duration time.Duration    `json:"duration"`
	}
)
