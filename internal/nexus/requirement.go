package nexus

// Requirement is one requirement that a person has. Its state (validated, implemented,
// verified) is computed from the landed commits, never stored.
type Requirement struct {
	ID       string              `json:"id"` // REQ-1, REQ-2, ...; unique in a spec
	Text     string              `json:"text"`
	Category RequirementCategory `json:"category,omitzero"` // zero means functional
	Priority RequirementPriority `json:"priority,omitzero"` // zero means should
	// probability from 0 to 1 that the person meant it; 0: unknown
	Confidence float64 `json:"confidence,omitzero"`
	Area       string  `json:"area,omitzero"`  // one of the areas of decide/spec, or of the person's own
	Quote      string  `json:"quote,omitzero"` // the person's words
	Later      bool    `json:"later,omitzero"` // wanted, but not in the first version
}

// RequirementCategory is the category of a requirement.
type RequirementCategory string

// The categories of requirements.
const (
	ReqFunctional    RequirementCategory = "functional"
	ReqNonFunctional RequirementCategory = "non-functional"
	ReqDesign        RequirementCategory = "ui-ux"
	ReqTechnical     RequirementCategory = "technical"
	ReqBusiness      RequirementCategory = "business-logic"
	ReqIntegration   RequirementCategory = "integration"
	ReqConstraint    RequirementCategory = "constraint"
	ReqAssumption    RequirementCategory = "assumption" // not stated; valid until a person objects
)

// RequirementCategories returns all categories.
func RequirementCategories() []RequirementCategory {
	return []RequirementCategory{ReqFunctional, ReqNonFunctional, ReqDesign, ReqTechnical, ReqBusiness, ReqIntegration, ReqConstraint, ReqAssumption}
}

// RequirementPriority is the priority of a requirement.
type RequirementPriority string

// The priorities of requirements, most important first.
const (
	Must   RequirementPriority = "must"
	Should RequirementPriority = "should"
	Could  RequirementPriority = "could"
	Wont   RequirementPriority = "wont" // declared out of scope
)

// RequirementPriorities lists the priorities of requirements, most important first.
func RequirementPriorities() []RequirementPriority {
	return []RequirementPriority{Must, Should, Could, Wont}
}

// PlanCoverage is the result of a plan's coverage check: the parts of the plan that serve each
// statement of the goal.
type PlanCoverage struct {
	State      PlanCoverageState   `json:"state"`
	Why        string              `json:"why,omitzero"` // why the check has no result
	Statements []StatementCoverage `json:"statements,omitempty"`
}

// PlanCoverageState is whether a plan covers its goal.
type PlanCoverageState string

// The zero value counts as unchecked.
const (
	CoverFull   PlanCoverageState = "covered"
	CoverGaps   PlanCoverageState = "gaps"        // a statement of the goal is missing in the plan
	CoverUnsure PlanCoverageState = "not checked" // the check failed, or its output could not be read
)

// StatementCoverage lists the parts of a plan that serve one statement of a goal.
type StatementCoverage struct {
	ID       string   `json:"id"` // of decide/spec
	Text     string   `json:"text"`
	Tasks    []TaskID `json:"tasks,omitempty"`
	Criteria []string `json:"criteria,omitempty"` // T1/AC-1
	Missing  string   `json:"missing,omitzero"`   // the part that is not covered; empty: none
	// location in the repository that already does it, so that no task is needed
	There string `json:"there,omitzero"`
	Asks  bool   `json:"asks"` // it asks for work; if false, nothing needs to cover it
}

// UncoveredStatements returns the statements that the plan does not cover.
func (c *PlanCoverage) UncoveredStatements() (all []StatementCoverage) {
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

// BackgroundStatements returns the statements that ask for no work.
func (c *PlanCoverage) BackgroundStatements() (all []StatementCoverage) {
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

// CoverageCheckMode selects the plans that another model checks against their goal. The zero value
// is auto.
type CoverageCheckMode string

// Settings of the coverage check.
const (
	LookAuto   CoverageCheckMode = "auto" // plans whose goal makes more than one statement
	LookNever  CoverageCheckMode = "never"
	LookAlways CoverageCheckMode = "always"
)
