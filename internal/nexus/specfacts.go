package nexus

// ResearcherReport is a researcher's report.
type ResearcherReport struct {
	Topic string `json:"topic"`
	Text  string `json:"text"` // blob
}

// Facts about a spec.
type (
	// SpecWritingStarted records the intent to start the sessions that write the spec of the goal.
	SpecWritingStarted struct {
		Attempt AttemptID `json:"attempt"` // "spec.1"
	}
	// SpecWritten records the spec that the sessions wrote.
	SpecWritten struct {
		Attempt AttemptID          `json:"attempt"`
		Spec    string             `json:"spec"` // blob of the Markdown
		Warning string             `json:"warning,omitzero"`
		Reports []ResearcherReport `json:"reports,omitempty"`
	}
	// SpecWritingFailed records why there is no spec.
	SpecWritingFailed struct {
		Attempt AttemptID          `json:"attempt"`
		Why     string             `json:"why"`
		Code    ErrorCode          `json:"code,omitzero"`
		Reports []ResearcherReport `json:"reports,omitempty"` // reports that were finished before
	}
)
