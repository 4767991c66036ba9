package nexus

// Complexity is how hard a task looks before anybody has tried it.
type Complexity string

// The complexities, easiest first.
const (
	Simple  Complexity = "simple"
	Medium  Complexity = "medium"
	Complex Complexity = "complex"
	Expert  Complexity = "expert"
)

// Complexities returns all four, easiest first.
func Complexities() []Complexity { return []Complexity{Simple, Medium, Complex, Expert} }

// Known reports whether c is one of the four.
func (c Complexity) Known() bool {
	return c == Simple || c == Medium || c == Complex || c == Expert
}

// Routing is how a run chooses the tier where work on a task begins. The zero
// Routing leaves each task at the tier that the plan names, or else at the
// cheapest.
type Routing struct {
	Order []string            `json:"order,omitempty"` // strategies in the order in which they are asked
	Tiers map[Complexity]Tier `json:"tiers,omitempty"` // where work of a complexity begins; missing ones have defaults
	Kinds map[TaskKind]Tier   `json:"kinds,omitempty"` // where tasks of a kind begin
	Past  []Past              `json:"past,omitempty"`  // the result of earlier runs when this one began

	Strategy Strategy `json:"strategy,omitzero"` // of tasks that name none; zero chooses for each
	Untested bool     `json:"untested,omitzero"` // the repository has no test when the run begins

	Experience *Experience `json:"experience,omitempty"` // what the estimates of its tasks are made from; nil: none are made
	Lessons    *Lessons    `json:"lessons,omitempty"`    // what was learned from earlier runs; nil: nothing is, or the run is older than lessons
}

// Past counts earlier tries at tasks of one complexity at one tier.
type Past struct {
	Complexity Complexity `json:"complexity"`
	Tier       Tier       `json:"tier"`
	Tries      int        `json:"tries"`
	Failed     int        `json:"failed,omitzero"`
	Money      Money      `json:"money,omitzero"` // of all tries together
}

// Route is what a model or a plugin said about a task.
type Route struct {
	Task       TaskID     `json:"task"`
	Complexity Complexity `json:"complexity"`
	Why        string     `json:"why,omitzero"`

	Plugin   string   `json:"plugin,omitzero"`   // who said it; empty: a model
	Tier     Tier     `json:"tier,omitzero"`     // where the plugin would begin; zero leaves it to the complexity
	Strategy Strategy `json:"strategy,omitzero"` // the plugin's; zero leaves it to the task
}
