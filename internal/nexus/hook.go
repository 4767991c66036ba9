package nexus

import "time"

// HookPoint is a moment in a run at which people's own commands, hooks, are
// run.
type HookPoint string

// The points, in the order of a run's life.
const (
	HookRunStart   HookPoint = "run.start"        // a process takes the run up, and nothing was done yet
	HookPlanReady  HookPoint = "plan.ready"       // a plan is there
	HookTaskStart  HookPoint = "task.start"       // the first attempt at a task starts
	HookAttempt    HookPoint = "attempt.start"    // an attempt starts, or continues
	HookAttemptEnd HookPoint = "attempt.end"      // an attempt ended
	HookGate       HookPoint = "gate.done"        // a gate judged a tree of an attempt
	HookReview     HookPoint = "review.done"      // a reviewer read a change
	HookTaskDone   HookPoint = "task.done"        // a task landed on the run's branch
	HookTaskParked HookPoint = "task.parked"      // a task is left for a person
	HookTaskFailed HookPoint = "task.failed"      // a task failed after all allowed attempts
	HookQuestion   HookPoint = "question.asked"   // somebody waits for an answer
	HookAlert      HookPoint = "alert.raised"     // something is odd that no cap ends
	HookCalm       HookPoint = "alert.cleared"    // its cause is gone
	HookBudget     HookPoint = "budget.threshold" // so much of the money is used
	HookRunLand    HookPoint = "run.land"         // what landed is about to leave the private clone
	HookRunLanded  HookPoint = "run.landed"       // it left, or did not
	HookRunEnd     HookPoint = "run.end"          // the run ended
)

// HookPoints returns all points, in the order of a run's life.
func HookPoints() []HookPoint {
	return []HookPoint{
		HookRunStart, HookPlanReady, HookTaskStart, HookAttempt, HookAttemptEnd, HookGate, HookReview, HookTaskDone, HookTaskParked,
		HookTaskFailed, HookQuestion, HookAlert, HookCalm, HookBudget, HookRunLand, HookRunLanded, HookRunEnd,
	}
}

// Refuses reports whether a hook at the point is run before what it is about,
// and may refuse it. All others are run after it.
func (p HookPoint) Refuses() bool { return p == HookRunStart || p == HookRunLand }

// HookState is how the command of a hook ended. The zero HookState is none of
// these.
type HookState string

// The states.
const (
	HookOK        HookState = "ok"        // it exited with 0
	HookRefused   HookState = "refused"   // it exited with 2
	HookFailed    HookState = "failed"    // it exited with any other code
	HookTimeout   HookState = "timeout"   // its time was over; it was killed with all that it started
	HookKilled    HookState = "killed"    // it used too much memory or wrote too much, and was killed
	HookNotRun    HookState = "not run"   // there is no such program, or it could not be started
	HookUntrusted HookState = "untrusted" // nobody agreed to it as it is now
)

// Lets reports whether a hook that ended so lets happen what it was asked
// about. What could not say no in time does not.
func (s HookState) Lets() bool { return s == HookOK || s == HookFailed }

// Hooks that may refuse.
type (
	// StartSought is recorded before the hooks are asked whether work on the run may start.
	StartSought struct{}
	// StartJudged says what they answered.
	StartJudged struct {
		Allowed bool   `json:"allowed"`
		Why     string `json:"why,omitzero"` // why not
	}
	// HookRan records how a hook ended that can refuse. Other hooks are not
	// recorded.
	HookRan struct {
		Hook     string        `json:"hook"` // its name in the configuration
		Point    HookPoint     `json:"point"`
		Commit   string        `json:"commit,omitzero"` // what was to land
		State    HookState     `json:"state"`
		Exit     int           `json:"exit"` // -1 when it was killed
		Why      string        `json:"why,omitzero"`
		Duration time.Duration `json:"duration"`
	}
)
