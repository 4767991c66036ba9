package nexus

// Estimate is the forecast of a plan's time and cost.
type Estimate struct {
	Work       int            `json:"work"`                // minutes of all tasks together
	Minutes    int            `json:"minutes"`             // minutes until all tasks have ended
	Money      Money          `json:"money,omitzero"`      // 0 if no price is known
	Most       Money          `json:"most"`                // the most that the run may spend
	Low        EstimateBound  `json:"low,omitzero"`        // rarely undercut
	High       EstimateBound  `json:"high,omitzero"`       // rarely exceeded
	Samples    int            `json:"samples,omitzero"`    // earlier tasks that it is based on
	Thumb      int            `json:"thumb,omitzero"`      // tasks that are estimated by a rule of thumb
	Unpriced   int            `json:"unpriced,omitzero"`   // tasks whose models have no known price
	Confidence Confidence     `json:"confidence,omitzero"` // the lowest confidence of the tasks
	Tasks      []TaskEstimate `json:"by_task,omitempty"`   // in the plan's order
}

// EstimateBound is one end of the range of an estimate.
type EstimateBound struct {
	Minutes int   `json:"minutes"`
	Money   Money `json:"money,omitzero"`
}

// Confidence is how reliable an estimate is.
type Confidence string

// Values of Confidence.
const (
	LowConfidence    Confidence = "low"    // a rule of thumb: it may be off by a factor of three either way
	MediumConfidence Confidence = "medium" // based on some landed tasks
	HighConfidence   Confidence = "high"   // based on many landed tasks with similar times
)

// TaskEstimate is the forecast of one task's time and cost. One in ten tasks needs less than
// Low, and one in ten more than High.
type TaskEstimate struct {
	Task       TaskID     `json:"task"`
	Likely     Cost       `json:"likely"`
	Low        Cost       `json:"low"`
	High       Cost       `json:"high"`
	Confidence Confidence `json:"confidence"`
	// landed tasks that it is based on; 0: it is a rule of thumb
	Samples  int            `json:"samples,omitzero"`
	From     string         `json:"from,omitzero"`     // which landed tasks: "go tasks that began at fast"
	Unpriced bool           `json:"unpriced,omitzero"` // no price is known, so it contains no money
	Parts    []EstimatePart `json:"parts,omitempty"`   // parts of Likely, whose sum it is
}

// Cost is time and money.
type Cost struct {
	Seconds int64 `json:"seconds"`
	Money   Money `json:"money,omitzero"`
}

// EstimatePart is one addition to an estimate, or one deduction from it.
type EstimatePart struct {
	What string `json:"what"`
	Cost
}

// EstimateBasis is the time and cost of earlier runs of a repository, and the cost of a turn, as
// known when a run began. The estimates of the run's tasks are based on it.
type EstimateBasis struct {
	Rates map[Tier]TurnRate `json:"rates,omitempty"` // tiers without a known price are missing
	Paces []TaskPace        `json:"paces,omitempty"`
}

// TurnRate is the cost of a usual turn at a tier.
type TurnRate struct {
	Writer   Money `json:"writer"`
	Reviewer Money `json:"reviewer"`
}

// TaskPace compares landed tasks of a stack that began at a tier with the rule of thumb.
type TaskPace struct {
	Stack string     `json:"stack,omitzero"` // empty: any stack
	Tier  Tier       `json:"tier,omitzero"`  // empty: any tier
	Tasks int        `json:"tasks"`
	Time  ValueRange `json:"time"`           // thousandths of the time by the rule of thumb
	Paid  int        `json:"paid,omitzero"`  // the number of these tasks that cost money
	Money ValueRange `json:"money,omitzero"` // for each turn of the rule of thumb, in the unit of [Money]
}

// ValueRange is a low, a likely and a high value: one in ten is below the low one, and
// one in ten above the high one.
type ValueRange struct {
	Low    int64 `json:"low"`
	Likely int64 `json:"likely"`
	High   int64 `json:"high"`
}
