package nexus

// Estimate is what a plan is thought to take.
type Estimate struct {
	Work       int            `json:"work"`                // minutes of all tasks together
	Minutes    int            `json:"minutes"`             // until all is done
	Money      Money          `json:"money,omitzero"`      // 0 where no price is known
	Most       Money          `json:"most"`                // what the run may spend at the worst
	Low        Bound          `json:"low,omitzero"`        // what is rarely undercut
	High       Bound          `json:"high,omitzero"`       // what is rarely passed
	Samples    int            `json:"samples,omitzero"`    // earlier tasks that it was taken from
	Thumb      int            `json:"thumb,omitzero"`      // tasks that a rule of thumb stands for
	Unpriced   int            `json:"unpriced,omitzero"`   // tasks for whose models no price is known
	Confidence Confidence     `json:"confidence,omitzero"` // the lowest of the tasks'
	Tasks      []TaskEstimate `json:"by_task,omitempty"`   // in the plan's order
}

// Bound is one end of the range of an estimate.
type Bound struct {
	Minutes int   `json:"minutes"`
	Money   Money `json:"money,omitzero"`
}

// Confidence is how far an estimate can be trusted.
type Confidence string

// The confidences.
const (
	LowConfidence    Confidence = "low"    // a rule of thumb: it may be wrong threefold either way
	MediumConfidence Confidence = "medium" // taken from some landed tasks
	HighConfidence   Confidence = "high"   // taken from many landed tasks that took about the same
)

// TaskEstimate is what one task is thought to take. One in ten tasks takes less
// than Low, and one in ten more than High.
type TaskEstimate struct {
	Task       TaskID         `json:"task"`
	Likely     Cost           `json:"likely"`
	Low        Cost           `json:"low"`
	High       Cost           `json:"high"`
	Confidence Confidence     `json:"confidence"`
	Samples    int            `json:"samples,omitzero"`  // landed tasks that it was taken from; 0: it is a rule of thumb
	From       string         `json:"from,omitzero"`     // which landed tasks: "go tasks that began at fast"
	Unpriced   bool           `json:"unpriced,omitzero"` // no price is known, so there is no money in it
	Parts      []EstimatePart `json:"parts,omitempty"`   // what Likely is made of; they add up to it
}

// Cost is time and money.
type Cost struct {
	Seconds int64 `json:"seconds"`
	Money   Money `json:"money,omitzero"`
}

// EstimatePart is what one thing adds to an estimate, or takes off it.
type EstimatePart struct {
	What string `json:"what"`
	Cost
}

// Experience is what earlier runs of a repository took, and what a turn costs, as
// it was when a run began. The estimates of the run's tasks are made from it.
type Experience struct {
	Rates map[Tier]Rate `json:"rates,omitempty"` // tiers without a known price are missing
	Paces []Pace        `json:"paces,omitempty"`
}

// Rate is what a usual turn costs at a tier.
type Rate struct {
	Writer   Money `json:"writer"`
	Reviewer Money `json:"reviewer"`
}

// Pace is how landed tasks of a stack that began at a tier compare with the rule
// of thumb.
type Pace struct {
	Stack string `json:"stack,omitzero"` // empty: of any
	Tier  Tier   `json:"tier,omitzero"`  // empty: at any
	Tasks int    `json:"tasks"`
	Time  Spread `json:"time"`           // thousandths of the time by the rule of thumb
	Paid  int    `json:"paid,omitzero"`  // of them, tasks that cost something
	Money Spread `json:"money,omitzero"` // for each turn of the rule of thumb, in the unit of [Money]
}

// Spread is a low, a likely and a high value: one in ten is below the low one, and
// one in ten above the high one.
type Spread struct {
	Low    int64 `json:"low"`
	Likely int64 `json:"likely"`
	High   int64 `json:"high"`
}
