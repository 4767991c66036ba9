package nexus

import "time"

// Threshold is something at which it is decided anew how a task continues.
type Threshold string

// The thresholds.
const (
	OverEstimate Threshold = "time"     // it takes longer than was estimated, by the run's factor
	OverTime     Threshold = "deadline" // all the time that it may take is used up
	OverRounds   Threshold = "rounds"   // a share of the rounds that it may take
	OverFiles    Threshold = "files"    // it changes files that it does not declare
	OverFailures Threshold = "failures" // rounds in a row were red
	NeedFailed   Threshold = "need"     // a task that it needs will not land
	BlockerMet   Threshold = "blocker"  // its agent gave up, as something stands in the way
	AgentAsked   Threshold = "request"  // its agent asks for another plan
)

// Continuation is how a task continues.
type Continuation string

// The courses.
const (
	CourseContinue Continuation = "continue"
	CourseSplit    Continuation = "split"    // it is cut into smaller ones
	CourseRescope  Continuation = "rescope"  // it is planned again, perhaps as one task
	CourseEscalate Continuation = "escalate" // a stronger model, or another strategy
	CourseStop     Continuation = "stop"     // it is left for a person
)

// Replan is where the thresholds are. A threshold of 0 is none, and the zero Replan
// leaves tasks to their caps.
type Replan struct {
	Time     int           `json:"time,omitzero"`     // percent of the estimate
	Least    time.Duration `json:"least,omitzero"`    // time below which no estimate counts
	Rounds   int           `json:"rounds,omitzero"`   // percent of the rounds that a task may take
	Files    int           `json:"files,omitzero"`    // files beyond those that it declares; more are too many
	Failures int           `json:"failures,omitzero"` // red rounds in a row
}

// Crossed is a threshold that a task reached, and how.
type Crossed struct {
	Threshold Threshold `json:"threshold"`
	Why       string    `json:"why"`
	Times     int       `json:"times,omitzero"` // the multiple of it that is reached; missing: one more than the last
}

// What is recorded of plans that change while a task is worked on.
type (
	// ReplanAsked records that an agent asks for a new plan of its task.
	ReplanAsked struct {
		Session    SessionID `json:"session"`
		Task       TaskID    `json:"task"`
		Reason     string    `json:"reason"`
		Suggestion string    `json:"suggestion,omitzero"`
		Blockers   []string  `json:"blockers,omitempty"`
		Files      []string  `json:"files,omitempty"` // that the change would touch
	}
	// ReplanDecided records how a task continues after it reached thresholds. It
	// is recorded before anything else happens.
	ReplanDecided struct {
		Task    TaskID       `json:"task"`
		Attempt AttemptID    `json:"attempt,omitzero"` // the last one; empty before the first
		Crossed []Crossed    `json:"crossed"`
		Course  Continuation `json:"course"`
		Why     string       `json:"why"`
		Anew    bool         `json:"anew,omitzero"` // its time starts again: the next attempt continues from the work so far
	}
)
