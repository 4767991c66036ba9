package nexus

// The plan.
type (
	// PlanSought records the intent to make a plan from the goal.
	PlanSought struct {
		Attempt AttemptID `json:"attempt"` // "plan.1": the sessions that make it
	}
	// CheckTried records how the command of a criterion ended on the tree that a
	// plan is made for.
	CheckTried struct {
		Attempt  AttemptID `json:"attempt"` // the planning
		Evidence Evidence  `json:"evidence"`
	}
	// PlanProposed offers a plan. Its tasks follow as facts of their own.
	PlanProposed struct {
		Plan  string     `json:"plan"` // blob
		Tasks int        `json:"tasks"`
		Cover *PlanCover `json:"cover,omitempty"` // what a second look found; nil: there was none

		Assumptions []string   `json:"assumptions,omitempty"` // its assumptions
		Foreseen    []PlanRisk `json:"foreseen,omitempty"`    // risks that the planner sees
	}
	// PlanLooked says what a look at a plan found that is being made. What is missing
	// goes back to the planner.
	PlanLooked struct {
		Attempt AttemptID `json:"attempt"` // the planning
		Session SessionID `json:"session"` // of the checker
		Cover   PlanCover `json:"cover"`
	}
	// PlanFailed records that no plan came out.
	PlanFailed struct {
		Why     string  `json:"why"`
		Outcome Outcome `json:"outcome,omitzero"`
	}
	// TaskPlanned adds a task to the graph.
	TaskPlanned struct {
		Task Task `json:"task"`
	}
	// PlanApproved lets the tasks start.
	PlanApproved struct {
		By string `json:"by"` // "policy" if nobody had to agree
	}
	// PlanRefused sets a plan aside that was proposed: its tasks are none of the
	// run's any more, and another plan is made.
	PlanRefused struct {
		Question string `json:"question"`
		Why      string `json:"why"` // the reason that the planner gets
		By       string `json:"by"`
	}
	// PlanRevised replaces the plan that was proposed by what a person made of it.
	// Its tasks follow as facts of their own.
	PlanRevised struct {
		Tasks int    `json:"tasks"`
		Goal  string `json:"goal,omitzero"` // in place of the goal's text; empty: that stays
		By    string `json:"by"`

		Assumptions []string   `json:"assumptions,omitempty"`
		Foreseen    []PlanRisk `json:"foreseen,omitempty"`
	}
)
