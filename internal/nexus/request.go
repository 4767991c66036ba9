package nexus

// Verb is what a request asks for.
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
	VerbLand    Verb = "land"   // what landed is to be on a branch
	VerbReject  Verb = "reject" // a person looked, and a criterion is not met
	VerbAmend   Verb = "amend"  // the plan that waits for consent is replaced by another one
	VerbAdd     Verb = "add"    // the run gets more to do

	VerbCheckpoint Verb = "checkpoint" // the present point gets a name
	VerbUndo       Verb = "undo"       // what landed is reverted
	VerbReview     Verb = "review"     // what a person says about a task's change
	VerbInterrupt  Verb = "interrupt"  // what the agent of a task does now is cut off
)

// Request is a person's or a program's wish. Any process may append one; the
// conductor alone grants it.
type Request struct {
	Verb Verb   `json:"verb"`
	Task TaskID `json:"task,omitzero"` // for skip, retry, tell, interrupt; for pause and resume: only this one
	ID   string `json:"id,omitzero"`   // the question, for answer and amend; the criterion, for approve and revise; the branch, for land; the name, for checkpoint; tasks separated by commas, for undo
	Text string `json:"text,omitzero"` // guidance, answer, or why
	Why  string `json:"why,omitzero"`  // for answer: why this one, where a program gives it
	Now  bool   `json:"now,omitzero"`  // for stop: do not drain
	By   string `json:"by,omitzero"`   // who asked

	Check   string        `json:"check,omitzero"`   // for revise
	Attempt AttemptID     `json:"attempt,omitzero"` // for retry: whose Round to go back to
	Round   int           `json:"round,omitzero"`   // for retry, from 1
	Fresh   bool          `json:"fresh,omitzero"`   // for retry: start from the tip
	Plan    *Plan         `json:"plan,omitempty"`   // for amend; for answer: what the yes is to, in place of the plan that was asked about; for add: one task without an ID
	Review  *ChangeReview `json:"review,omitempty"` // for review
	Item    string        `json:"item,omitzero"`    // for add: the item of the backlog that it is; for skip: the item that is no longer wanted
}
