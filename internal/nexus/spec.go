package nexus

// SpecReport is a researcher's report.
type SpecReport struct {
	Topic string `json:"topic"`
	Text  string `json:"text"` // blob
}

// Facts about a spec.
type (
	// SpecSought records the intent to start the sessions that write the spec of the goal.
	SpecSought struct {
		Attempt AttemptID `json:"attempt"` // "spec.1"
	}
	// SpecWritten records the spec that the sessions wrote.
	SpecWritten struct {
		Attempt AttemptID    `json:"attempt"`
		Spec    string       `json:"spec"` // blob of the Markdown
		Warning string       `json:"warning,omitzero"`
		Reports []SpecReport `json:"reports,omitempty"`
	}
	// SpecFailed records why there is no spec.
	SpecFailed struct {
		Attempt AttemptID    `json:"attempt"`
		Why     string       `json:"why"`
		Code    Code         `json:"code,omitzero"`
		Reports []SpecReport `json:"reports,omitempty"` // reports that were finished before
	}
)
