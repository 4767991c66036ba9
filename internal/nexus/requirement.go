package nexus

// Requirement is one thing that a person wants of what is built. How far it has come (validated,
// implemented, verified) is computed from what landed, never stored.
type Requirement struct {
	ID         string      `json:"id"` // REQ-1, REQ-2, ...; unique in a spec
	Text       string      `json:"text"`
	Category   ReqCategory `json:"category,omitzero"`   // zero means functional
	Priority   MoSCoW      `json:"priority,omitzero"`   // zero means should
	Confidence float64     `json:"confidence,omitzero"` // from 0 to 1 that it was meant; 0: nobody said
	Area       string      `json:"area,omitzero"`       // one of the areas of decide/spec, or of the person's own
	Quote      string      `json:"quote,omitzero"`      // what the person said, word for word
	Later      bool        `json:"later,omitzero"`      // wanted, but not in the first version
}

// ReqCategory says what sort of thing a requirement asks for.
type ReqCategory string

// The categories of requirements.
const (
	ReqFunctional    ReqCategory = "functional"
	ReqNonFunctional ReqCategory = "non-functional"
	ReqDesign        ReqCategory = "ui-ux"
	ReqTechnical     ReqCategory = "technical"
	ReqBusiness      ReqCategory = "business-logic"
	ReqIntegration   ReqCategory = "integration"
	ReqConstraint    ReqCategory = "constraint"
	ReqAssumption    ReqCategory = "assumption" // nobody said it; it holds until a person says otherwise
)

// ReqCategories lists the categories of requirements.
func ReqCategories() []ReqCategory {
	return []ReqCategory{ReqFunctional, ReqNonFunctional, ReqDesign, ReqTechnical, ReqBusiness, ReqIntegration, ReqConstraint, ReqAssumption}
}

// MoSCoW is how much a requirement matters.
type MoSCoW string

// The priorities of requirements, most important first.
const (
	Must   MoSCoW = "must"
	Should MoSCoW = "should"
	Could  MoSCoW = "could"
	Wont   MoSCoW = "wont" // said to be out of scope
)

// MoSCoWs lists the priorities of requirements, most important first.
func MoSCoWs() []MoSCoW { return []MoSCoW{Must, Should, Could, Wont} }

// PlanCover is what a second look at a plan found: what in it serves each statement of the goal.
type PlanCover struct {
	State      CoverState       `json:"state"`
	Why        string           `json:"why,omitzero"` // why nobody could tell
	Statements []StatementCover `json:"statements,omitempty"`
}

// CoverState records whether a plan covers its goal.
type CoverState string

// The states of a plan's cover. The zero value is no answer, as unchecked is.
const (
	CoverFull   CoverState = "covered"
	CoverGaps   CoverState = "gaps"        // something that the goal says is not in the plan
	CoverUnsure CoverState = "not checked" // the second look failed, or could not be read
)

// StatementCover is what serves one statement of a goal.
type StatementCover struct {
	ID       string   `json:"id"` // of decide/spec
	Text     string   `json:"text"`
	Tasks    []TaskID `json:"tasks,omitempty"`
	Criteria []string `json:"criteria,omitempty"` // T1/AC-1
	Missing  string   `json:"missing,omitzero"`   // what is not covered; empty: nothing
	There    string   `json:"there,omitzero"`     // where the repository does it already, so that no task needs to
	Asks     bool     `json:"asks"`               // something is to be done for it; if not, nothing needs to cover it
}

// Gaps returns the statements that the plan does not cover.
func (c *PlanCover) Gaps() (all []StatementCover) {
	if c == nil || c.State != CoverGaps {
		return nil
	}
	for _, s := range c.Statements {
		if s.Missing != "" {
			all = append(all, s)
		}
	}
	return all
}

// Background returns the statements that ask for nothing.
func (c *PlanCover) Background() (all []StatementCover) {
	if c == nil {
		return nil
	}
	for _, s := range c.Statements {
		if !s.Asks {
			all = append(all, s)
		}
	}
	return all
}

// SecondLook records which plans are held against their goal by a model that did not make them. The zero value is
// auto.
type SecondLook string

// The settings of the second look.
const (
	LookAuto   SecondLook = "auto" // those whose goal says more than one thing
	LookNever  SecondLook = "never"
	LookAlways SecondLook = "always"
)
