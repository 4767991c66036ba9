package nexus

// InterviewQuestion is a question of the interviewer to a person.
type InterviewQuestion struct {
	Key     string   `json:"key"`  // "2.1": the first of its second round
	Text    string   `json:"text"` // one question
	Choices []string `json:"choices,omitempty"`
	Default string   `json:"default"`       // assumed if there is no answer
	Changes string   `json:"changes"`       // the part of the plan that depends on the answer
	Area    string   `json:"area,omitzero"` // area of the question
}

// InterviewSpecDraft is the content of a spec besides its requirements.
type InterviewSpecDraft struct {
	Title      string               `json:"title,omitzero"`
	Problem    string               `json:"problem,omitzero"`
	Criteria   []InterviewCriterion `json:"criteria,omitempty"`
	Notes      []string             `json:"notes,omitempty"`
	OutOfScope []string             `json:"out_of_scope,omitempty"`
	Critique   []string             `json:"critique,omitempty"`
}

// InterviewCriterion is a criterion that shows that requirements are met.
type InterviewCriterion struct {
	ID    string   `json:"id,omitzero"` // AC-1, AC-2, ...; empty in journals from before criteria had ids
	Text  string   `json:"text"`
	Check string   `json:"check,omitzero"` // a gate's name or a command, as in [Criterion]
	Of    []string `json:"of,omitempty"`   // texts or ids of requirements; empty: all
}

// CorrectedSpecPart is a part of a spec that a person named.
type CorrectedSpecPart struct {
	ID      string `json:"id"`
	Text    string `json:"text"`
	Instead string `json:"instead,omitzero"` // the person's correction, in their words
}

// Facts about an interview.
type (
	// InterviewRoundStarted records the intent to hold a session in which the interviewer turns the
	// answers so far into requirements, and lists open points.
	InterviewRoundStarted struct {
		Attempt AttemptID `json:"attempt"` // "interview.1"
		Round   int       `json:"round"`   // from 1
	}
	// InterviewRoundEnded records the session's result, besides requirements and assumptions,
	// which are facts of their own. Its questions are asked one by one.
	InterviewRoundEnded struct {
		Attempt   AttemptID           `json:"attempt"`
		Round     int                 `json:"round"`
		Clear     bool                `json:"clear,omitzero"` // the goal needed no question
		Done      bool                `json:"done,omitzero"`  // the interviewer has no further questions
		Draft     InterviewSpecDraft  `json:"draft,omitzero"`
		Questions []InterviewQuestion `json:"questions,omitempty"`
	}
	// InterviewRoundFailed records why the interviewer gave no usable answer.
	InterviewRoundFailed struct {
		Attempt AttemptID `json:"attempt"`
		Why     string    `json:"why"`
		Outcome Outcome   `json:"outcome,omitzero"`
	}
	// RequirementCaptured adds a requirement, or replaces the one with the same id.
	RequirementCaptured struct {
		Attempt     AttemptID   `json:"attempt"`
		Requirement Requirement `json:"requirement"`
		Candidate   bool        `json:"candidate,omitzero"` // it is uncertain whether the person meant it
		Instead     string      `json:"instead,omitzero"`   // id of the withdrawn part that it replaces
	}
	// RequirementWithdrawn withdraws a requirement because of a person's answer.
	RequirementWithdrawn struct {
		Attempt AttemptID `json:"attempt"`
		ID      string    `json:"id"`
		Why     string    `json:"why,omitzero"`
	}
	// SpecPartWithdrawn records that the interviewer withdrew a part of the spec that is not a
	// requirement.
	SpecPartWithdrawn struct {
		Attempt AttemptID `json:"attempt"`
		// of an assumption or a criterion; empty for a note and for an out-of-scope statement
		ID   string `json:"id,omitzero"`
		Text string `json:"text"`
	}
	// SpecPartsCorrected records the effect of a person's answer on the parts of the spec
	// that it names: parts that it calls wrong are withdrawn, and parts that it agrees to are
	// locked.
	SpecPartsCorrected struct {
		Attempt   AttemptID           `json:"attempt"`
		Question  string              `json:"question"` // "q3": the question of the run that was answered
		By        string              `json:"by"`
		Withdrawn []CorrectedSpecPart `json:"withdrawn,omitempty"`
		// named, but the answer does not show whether they are wrong
		Unclear []CorrectedSpecPart `json:"unclear,omitempty"`
		Locked  []string            `json:"locked,omitempty"` // ids
		// texts of notes and out-of-scope statements that are locked too
		Kept []string `json:"kept,omitempty"`
	}
	// AssumptionStated records an assumption, which is valid until a person changes it.
	AssumptionStated struct {
		Attempt  AttemptID `json:"attempt"`
		ID       string    `json:"id"` // "A-1" of an interview, "P-1" of a plan
		Text     string    `json:"text"`
		Question string    `json:"question,omitzero"` // key of the question whose default it is
		Instead  string    `json:"instead,omitzero"`  // id of the withdrawn part that it replaces
	}
	// AssumptionConfirmed records that a person agreed to an assumption.
	AssumptionConfirmed struct {
		Attempt AttemptID `json:"attempt"`
		ID      string    `json:"id"`
		By      string    `json:"by"`
	}
)
