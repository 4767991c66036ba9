package nexus

// RequestKind is the kind of a request.
type RequestKind string

// The verbs.
const (
	VerbPause   RequestKind = "pause"
	VerbResume  RequestKind = "resume"
	VerbStop    RequestKind = "stop"
	VerbSkip    RequestKind = "skip"
	VerbRetry   RequestKind = "retry"
	VerbTell    RequestKind = "tell"
	VerbAnswer  RequestKind = "answer"
	VerbApprove RequestKind = "approve"
	VerbRevise  RequestKind = "revise"
	VerbLand    RequestKind = "land"   // land the commits on a branch
	VerbReject  RequestKind = "reject" // a person reviewed it, and a criterion is not met
	VerbAmend   RequestKind = "amend"  // replace the plan that waits for approval by another one
	VerbAdd     RequestKind = "add"    // add work to the run

	VerbCheckpoint RequestKind = "checkpoint" // name the present point of the run
	VerbUndo       RequestKind = "undo"       // revert landed changes
	VerbReview     RequestKind = "review"     // a person's review of a task's change
	VerbInterrupt  RequestKind = "interrupt"  // interrupt the present turn of a task's agent
)

// Request is a request of a person or a program. Any process may append one; only the
// conductor carries it out.
type Request struct {
	Verb RequestKind `json:"verb"`
	Task TaskID      `json:"task,omitzero"` // for skip, retry, tell, interrupt; for pause and resume: only this one
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

// ReasonSuffix returns the text of a request that gives a reason, to follow the name of its author;
// "" if it gives none.
func (r Request) ReasonSuffix() string {
	if r.Text == "" {
		return ""
	}
	return ": " + r.Text
}
