package nexus

// Complexity is the estimated difficulty of a task before the first attempt.
type Complexity string

// Levels of complexity, easiest first.
const (
	Simple  Complexity = "simple"
	Medium  Complexity = "medium"
	Complex Complexity = "complex"
	Expert  Complexity = "expert"
)

// Complexities returns all four, easiest first.
func Complexities() []Complexity { return []Complexity{Simple, Medium, Complex, Expert} }

// IsKnown reports whether c is one of the four.
func (c Complexity) IsKnown() bool {
	return c == Simple || c == Medium || c == Complex || c == Expert
}

// StartTierRules is how a run chooses the starting tier of a task. The zero value uses the tier
// that the plan names, or else the cheapest one.
type StartTierRules struct {
	Order []string            `json:"order,omitempty"` // order in which the strategies are consulted
	Tiers map[Complexity]Tier `json:"tiers,omitempty"` // starting tier by complexity; missing ones have defaults
	Kinds map[TaskKind]Tier   `json:"kinds,omitempty"` // starting tier by kind of task
	Past  []PastAttemptCounts `json:"past,omitempty"`  // results of earlier runs when this one began

	Strategy WritingStrategy `json:"strategy,omitzero"` // of tasks that name none; zero: chosen for each task
	Untested bool            `json:"untested,omitzero"` // the repository has no test when the run begins

	Experience *EstimateBasis `json:"experience,omitempty"` // basis of the estimates of its tasks; nil: no estimates
	// lessons from earlier runs; nil: none, or the run is older than lessons
	Lessons *RunLessons `json:"lessons,omitempty"`
}

// PastAttemptCounts counts earlier attempts at tasks of one complexity at one tier.
type PastAttemptCounts struct {
	Complexity Complexity `json:"complexity"`
	Tier       Tier       `json:"tier"`
	Tries      int        `json:"tries"`
	Failed     int        `json:"failed,omitzero"`
	Money      Money      `json:"money,omitzero"` // of all these attempts together
}

// ComplexityRating is the answer of a model or a plugin about a task.
type ComplexityRating struct {
	Task       TaskID     `json:"task"`
	Complexity Complexity `json:"complexity"`
	Why        string     `json:"why,omitzero"`

	Plugin   string          `json:"plugin,omitzero"`   // name of the plugin; empty: a model answered
	Tier     Tier            `json:"tier,omitzero"`     // starting tier from the plugin; zero: the complexity decides
	Strategy WritingStrategy `json:"strategy,omitzero"` // strategy from the plugin; zero: the task's
}
