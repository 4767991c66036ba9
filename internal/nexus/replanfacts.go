package nexus

import "time"

// ReplanThreshold is a limit at which Nexus decides again how a task continues.
type ReplanThreshold string

// The thresholds.
const (
	OverEstimate ReplanThreshold = "time"     // it takes longer than its estimate times the run's factor
	OverTime     ReplanThreshold = "deadline" // its time limit is used up
	OverRounds   ReplanThreshold = "rounds"   // a percentage of its rounds is used up
	OverFiles    ReplanThreshold = "files"    // it changes files that it does not declare
	OverFailures ReplanThreshold = "failures" // rounds in a row were red
	NeedFailed   ReplanThreshold = "need"     // a task that it needs will not land
	BlockerMet   ReplanThreshold = "blocker"  // its agent gave up because of an obstacle
	AgentAsked   ReplanThreshold = "request"  // its agent asks for another plan
)

// TaskContinuation is how a task continues.
type TaskContinuation string

// Values of Continuation.
const (
	CourseContinue TaskContinuation = "continue"
	CourseSplit    TaskContinuation = "split"    // it is split into smaller tasks
	CourseRescope  TaskContinuation = "rescope"  // it is planned again, possibly as one task
	CourseEscalate TaskContinuation = "escalate" // a stronger model, or another strategy
	CourseStop     TaskContinuation = "stop"     // it is parked until a person decides
)

// ReplanLimits is the set of thresholds. A threshold of 0 is disabled. With the zero Replan only
// the limits end a task.
type ReplanLimits struct {
	Time   int           `json:"time,omitzero"`   // percent of the estimate
	Least  time.Duration `json:"least,omitzero"`  // time below which the estimate is ignored
	Rounds int           `json:"rounds,omitzero"` // percent of the rounds that a task may take
	// changed files beyond the declared ones; more than this are too many
	Files    int `json:"files,omitzero"`
	Failures int `json:"failures,omitzero"` // failed rounds in a row
}

// CrossedThreshold is a threshold that a task reached, with the value.
type CrossedThreshold struct {
	Threshold ReplanThreshold `json:"threshold"`
	Why       string          `json:"why"`
	// the multiple of it that was reached; missing: one more than the last one
	Times int `json:"times,omitzero"`
}

// Facts about plans that change while a task is worked on.
type (
	// ReplanRequested records that an agent asks for a new plan of its task.
	ReplanRequested struct {
		Session    SessionID `json:"session"`
		Task       TaskID    `json:"task"`
		Reason     string    `json:"reason"`
		Suggestion string    `json:"suggestion,omitzero"`
		Blockers   []string  `json:"blockers,omitempty"`
		Files      []string  `json:"files,omitempty"` // files that the change would touch
	}
	// ReplanDecided records how a task continues after it reached thresholds. It
	// is recorded before anything else happens.
	ReplanDecided struct {
		Task    TaskID             `json:"task"`
		Attempt AttemptID          `json:"attempt,omitzero"` // the last one; empty before the first
		Crossed []CrossedThreshold `json:"crossed"`
		Course  TaskContinuation   `json:"course"`
		Why     string             `json:"why"`
		// its time starts again: the next attempt continues from the present work
		Anew bool `json:"anew,omitzero"`
	}
)
