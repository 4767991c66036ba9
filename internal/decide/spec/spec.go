// Package spec defines specs: a problem, requirements, criteria that show that they are met,
// and exclusions. It parses and formats specs as Markdown, and splits a goal that is not a
// spec into statements.
package spec

import "github.com/nexus-ai-builder/nexus/internal/nexus"

// Spec is the description of a product, in the words of the people who want it.
type Spec struct {
	Title        string              `json:"title"`
	Depth        SpecDepth           `json:"depth,omitzero"` // zero means standard
	Problem      string              `json:"problem,omitzero"`
	Requirements []nexus.Requirement `json:"requirements"`
	Criteria     []SpecCriterion     `json:"criteria,omitempty"`
	Assumptions  []SpecAssumption    `json:"assumptions,omitempty"`
	// people's answers to questions, in their own words
	Answers    []string `json:"answers,omitempty"`
	Notes      []string `json:"notes,omitempty"`        // technical notes for the implementation
	OutOfScope []string `json:"out_of_scope,omitempty"` // things that are not to be built
	Critique   []string `json:"critique,omitempty"`     // weaknesses that a deep spec finds in itself
}

// SpecCriterion is a criterion that shows that requirements are met.
type SpecCriterion struct {
	ID    string   `json:"id"` // AC-1, AC-2, ...
	Text  string   `json:"text"`
	Check string   `json:"check,omitzero"` // a gate's name or a command, as in a task's criterion
	Of    []string `json:"of,omitempty"`   // ids of the requirements; empty: all
}

// SpecAssumption is an unstated assumption on which the spec depends.
type SpecAssumption struct {
	ID     string `json:"id"`
	Text   string `json:"text"`
	Locked bool   `json:"locked,omitzero"` // a person agreed to it: it is not asked about again
}

// SpecDepth is how detailed a spec is.
type SpecDepth string

// Values of Depth.
const (
	Quick    SpecDepth = "quick" // no spec: the goal is sufficient
	Standard SpecDepth = "standard"
	Deep     SpecDepth = "deep" // with a critique of itself
)

// GapAreas returns the areas that are searched for gaps, in the order of the questions.
func GapAreas() []string {
	return []string{"authentication", "authorization", "data_model", "api", "ui_ux", "performance", "security", "integrations", "deployment"}
}
