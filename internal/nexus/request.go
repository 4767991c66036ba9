package nexus

// Verb is the kind of a request.
type Verb string

// The verbs.
const (
	VerbPause   Verb = "pause"
	VerbResume  Verb = "resume"
	VerbStop    Verb = "stop"
	VerbSkip    Verb = "skip"
	VerbRetry   Verb = "retry"
	VerbTell    Verb = "tell"
	VerbAnswer  Verb = "answer"
	VerbApprove Verb = "approve"
	VerbRevise  Verb = "revise"
	VerbLand    Verb = "land"   // land the commits on a branch
	VerbReject  Verb = "reject" // a person reviewed it, and a criterion is not met
	VerbAmend   Verb = "amend"  // replace the plan that waits for approval by another one
	VerbAdd     Verb = "add"    // add work to the run

	VerbCheckpoint Verb = "checkpoint" // name the present point of the run
	VerbUndo       Verb = "undo"       // revert landed changes
	VerbReview     Verb = "review"     // a person's review of a task's change
	VerbInterrupt  Verb = "interrupt"  // interrupt the present turn of a task's agent
)

// Request is a request of a person or a program. Any process may append one; only the
// conductor carries it out.
type Request struct {
	Verb Verb   `json:"verb"`
	Task TaskID `json:"task,omitzero"` // for skip, retry, tell, interrupt; for pause and resume: only this one
	// the question, for answer and amend; the criterion, for approve and revise; the branch,
	// for land; the name, for checkpoint; tasks separated by commas, for undo
	ID   string `json:"id,omitzero"`
	Text string `json:"text,omitzero"` // guidance, answer, or reason
	Why  string `json:"why,omitzero"`  // for answer: its reason, if a program gives one
	Now  bool   `json:"now,omitzero"`  // for stop: do not drain
	By   string `json:"by,omitzero"`   // the person or program that asked

	Check   string    `json:"check,omitzero"`   // for revise
	Attempt AttemptID `json:"attempt,omitzero"` // for retry: attempt whose Round is the start
	Round   int       `json:"round,omitzero"`   // for retry, from 1
	Fresh   bool      `json:"fresh,omitzero"`   // for retry: start from the tip
	// for amend; for answer: the plan that the yes approves, instead of the proposed one; for
	// add: one task without an ID
	Plan   *Plan         `json:"plan,omitempty"`
	Review *ChangeReview `json:"review,omitempty"` // for review
	// for add: the item of the backlog; for skip: the item that is no longer needed
	Item string `json:"item,omitzero"`
}
