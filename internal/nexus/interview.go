package nexus

// InterviewQuestion is what the interviewer wants to know of a person.
type InterviewQuestion struct {
	Key     string   `json:"key"`  // "2.1": the first of its second round
	Text    string   `json:"text"` // one question
	Choices []string `json:"choices,omitempty"`
	Default string   `json:"default"`       // what is assumed without an answer
	Changes string   `json:"changes"`       // what the plan depends on the answer for
	Area    string   `json:"area,omitzero"` // that it is about
}

// InterviewDraft is what a spec says beside its requirements.
type InterviewDraft struct {
	Title      string               `json:"title,omitzero"`
	Problem    string               `json:"problem,omitzero"`
	Criteria   []InterviewCriterion `json:"criteria,omitempty"`
	Notes      []string             `json:"notes,omitempty"`
	OutOfScope []string             `json:"out_of_scope,omitempty"`
	Critique   []string             `json:"critique,omitempty"`
}

// InterviewCriterion shows that requirements are met.
type InterviewCriterion struct {
	ID    string   `json:"id,omitzero"` // AC-1, AC-2, ...; empty in journals from before criteria had ids
	Text  string   `json:"text"`
	Check string   `json:"check,omitzero"` // as of a task's criterion
	Of    []string `json:"of,omitempty"`   // texts or ids of requirements; empty: of all
}

// CorrectedPart is a part of a spec that a person named.
type CorrectedPart struct {
	ID      string `json:"id"`
	Text    string `json:"text"`
	Instead string `json:"instead,omitzero"` // what holds instead, in the person's words
}

// An interview.
type (
	// InterviewSought intends a conversation in which the interviewer turns what
	// was said so far into requirements, and says what is open.
	InterviewSought struct {
		Attempt AttemptID `json:"attempt"` // "interview.1"
		Round   int       `json:"round"`   // from 1
	}
	// InterviewHeard says what came of it, beside requirements and assumptions,
	// which are facts of their own. Its questions are asked one by one.
	InterviewHeard struct {
		Attempt   AttemptID           `json:"attempt"`
		Round     int                 `json:"round"`
		Clear     bool                `json:"clear,omitzero"` // the goal needed no question
		Done      bool                `json:"done,omitzero"`  // the interviewer has no more
		Draft     InterviewDraft      `json:"draft,omitzero"`
		Questions []InterviewQuestion `json:"questions,omitempty"`
	}
	// InterviewFailed records why the interviewer gave no answer that can be used.
	InterviewFailed struct {
		Attempt AttemptID `json:"attempt"`
		Why     string    `json:"why"`
		Outcome Outcome   `json:"outcome,omitzero"`
	}
	// RequirementCaptured adds a requirement, or replaces the one of its id.
	RequirementCaptured struct {
		Attempt     AttemptID   `json:"attempt"`
		Requirement Requirement `json:"requirement"`
		Candidate   bool        `json:"candidate,omitzero"` // it is not sure enough that it was meant
		Instead     string      `json:"instead,omitzero"`   // id of the withdrawn part that it replaces
	}
	// RequirementWithdrawn withdraws a requirement because of a person's answer.
	RequirementWithdrawn struct {
		Attempt AttemptID `json:"attempt"`
		ID      string    `json:"id"`
		Why     string    `json:"why,omitzero"`
	}
	// PartWithdrawn records that the interviewer withdrew a part of the spec that is no requirement.
	PartWithdrawn struct {
		Attempt AttemptID `json:"attempt"`
		ID      string    `json:"id,omitzero"` // of an assumption or a criterion; empty for a note and what is out of scope
		Text    string    `json:"text"`
	}
	// InterviewCorrected says what a person's answer did to parts of the spec that it names: what
	// it calls wrong is withdrawn, and what it agrees to is locked.
	InterviewCorrected struct {
		Attempt   AttemptID       `json:"attempt"`
		Question  string          `json:"question"` // "q3": of the question of the run that was answered
		By        string          `json:"by"`
		Withdrawn []CorrectedPart `json:"withdrawn,omitempty"`
		Unclear   []CorrectedPart `json:"unclear,omitempty"` // named, and it cannot be told whether they are wrong
		Locked    []string        `json:"locked,omitempty"`  // ids
		Kept      []string        `json:"kept,omitempty"`    // texts of notes and of what is out of scope, locked as well
	}
	// AssumptionStated states an assumption, which holds until a person changes it.
	AssumptionStated struct {
		Attempt  AttemptID `json:"attempt"`
		ID       string    `json:"id"` // "A-1" of an interview, "P-1" of a plan
		Text     string    `json:"text"`
		Question string    `json:"question,omitzero"` // key of the question whose default it is
		Instead  string    `json:"instead,omitzero"`  // id of the withdrawn part that it replaces
	}
	// AssumptionLocked records that a person agreed to an assumption.
	AssumptionLocked struct {
		Attempt AttemptID `json:"attempt"`
		ID      string    `json:"id"`
		By      string    `json:"by"`
	}
)
