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
