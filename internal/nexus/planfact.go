package nexus

// Facts about the plan.
type (
	// PlanningStarted records the intent to make a plan from the goal.
	PlanningStarted struct {
		Attempt AttemptID `json:"attempt"` // "plan.1": the sessions that make it
	}
	// CriterionCommandTried records how the command of a criterion ended on the tree that a plan is made
	// for.
	CriterionCommandTried struct {
		Attempt  AttemptID    `json:"attempt"` // the planning
		Evidence GateEvidence `json:"evidence"`
	}
	// PlanProposed proposes a plan. Its tasks follow as facts of their own.
	PlanProposed struct {
		Plan  string        `json:"plan"` // blob
		Tasks int           `json:"tasks"`
		Cover *PlanCoverage `json:"cover,omitempty"` // result of the coverage check; nil: not checked

		Assumptions []string   `json:"assumptions,omitempty"` // its assumptions
		Foreseen    []PlanRisk `json:"foreseen,omitempty"`    // risks that the planner sees
	}
	// PlanCoverageChecked records the coverage check of a plan that is still being made. Missing parts
	// go back to the planner.
	PlanCoverageChecked struct {
		Attempt AttemptID    `json:"attempt"` // the planning
		Session SessionID    `json:"session"` // of the checker
		Cover   PlanCoverage `json:"cover"`
	}
	// PlanningFailed records that no plan was made.
	PlanningFailed struct {
		Why     string  `json:"why"`
		Outcome Outcome `json:"outcome,omitzero"`
	}
	// TaskPlanned adds a task to the graph.
	TaskPlanned struct {
		Task Task `json:"task"`
	}
	// PlanApproved lets the tasks start.
	PlanApproved struct {
		By string `json:"by"` // "policy" if no approval was needed
	}
	// PlanRejected rejects a proposed plan: its tasks are removed from the run, and another
	// plan is made.
	PlanRejected struct {
		Question string `json:"question"`
		Why      string `json:"why"` // the reason that the planner gets
		By       string `json:"by"`
	}
	// PlanRevised replaces a proposed plan by a person's version of it. Its tasks follow as
	// facts of their own.
	PlanRevised struct {
		Tasks int    `json:"tasks"`
		Goal  string `json:"goal,omitzero"` // replaces the goal's text; empty: no change
		By    string `json:"by"`

		Assumptions []string   `json:"assumptions,omitempty"`
		Foreseen    []PlanRisk `json:"foreseen,omitempty"`
	}
)
