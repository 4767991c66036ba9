// Package criterion holds words about the criteria of tasks: what keeps one
// from being met on what landed.
package criterion

// Kind says where the fault lies when a check is red.
type Kind string

// The kinds. The zero Kind counts as [Source]: the check stays as it is.
const (
	Source Kind = "source" // the work is wrong
	Test   Kind = "test"   // the check is wrong
	Both   Kind = "both"
)

// Fault is a criterion that is not met on what landed, and the task that
// mends it.
type Fault struct {
	Criterion string   `json:"criterion"` // T1/AC-2
	Task      string   `json:"task"`      // that mends it
	Signature string   `json:"signature"` // of its failure: the same one again is no progress
	Kind      Kind     `json:"kind,omitzero"`
	By        string   `json:"by,omitzero"` // evidence, or the session that said so; empty where nobody could
	Why       string   `json:"why,omitzero"`
	Commit    string   `json:"commit,omitzero"`  // the first on the branch on which the check is red, where that is known
	Of        string   `json:"of,omitzero"`      // the task that landed it
	Judges    []string `json:"judges,omitempty"` // files that the check consists of
}
