// Package spec knows what a spec holds: a problem, requirements, what shows that they are met, and what is
// left out. It reads and writes specs as Markdown, names the statements of a goal that is no spec, and traces
// each of them to tasks, tests and commits.
package spec

import "github.com/nexus-ai-builder/nexus/internal/nexus"

// Spec is what is to be built, in the words of those who want it.
type Spec struct {
	Title        string              `json:"title"`
	Depth        Depth               `json:"depth,omitzero"` // zero means standard
	Problem      string              `json:"problem,omitzero"`
	Requirements []nexus.Requirement `json:"requirements"`
	Criteria     []Criterion         `json:"criteria,omitempty"`
	Assumptions  []Assumption        `json:"assumptions,omitempty"`
	Answers      []string            `json:"answers,omitempty"`      // what people were asked, and said, in their own words
	Notes        []string            `json:"notes,omitempty"`        // technical notes, for those who build it
	OutOfScope   []string            `json:"out_of_scope,omitempty"` // what is not to be built
	Critique     []string            `json:"critique,omitempty"`     // what a deep spec finds weak in itself
}

// Criterion is one thing that shows that requirements are met.
type Criterion struct {
	ID    string   `json:"id"` // AC-1, AC-2, ...
	Text  string   `json:"text"`
	Check string   `json:"check,omitzero"` // as of a task's criterion
	Of    []string `json:"of,omitempty"`   // ids of the requirements; empty: of all
}

// Assumption is something that nobody said and that the spec depends on.
type Assumption struct {
	ID     string `json:"id"`
	Text   string `json:"text"`
	Locked bool   `json:"locked,omitzero"` // a person agreed to it: it is not asked about again
}

// Depth is how much a spec says.
type Depth string

// The depths of specs.
const (
	Quick    Depth = "quick" // none: the goal says it all
	Standard Depth = "standard"
	Deep     Depth = "deep" // with a critique of itself
)

// Areas lists what is looked at for gaps, in the order in which it is asked about.
func Areas() []string {
	return []string{"authentication", "authorization", "data_model", "api", "ui_ux", "performance", "security", "integrations", "deployment"}
}
