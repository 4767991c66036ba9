package nexus

// SpecReport is what a researcher found out.
type SpecReport struct {
	Topic string `json:"topic"`
	Text  string `json:"text"` // blob
}

// A spec.
type (
	// SpecSought intends the sessions that write the spec of the goal.
	SpecSought struct {
		Attempt AttemptID `json:"attempt"` // "spec.1"
	}
	// SpecWritten says what came of them.
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
		Reports []SpecReport `json:"reports,omitempty"` // what was found out before
	}
)
