package nexus

// PlanEstimate is the forecast of a plan's time and cost.
type PlanEstimate struct {
	Work       int                `json:"work"`                // minutes of all tasks together
	Minutes    int                `json:"minutes"`             // minutes until all tasks have ended
	Money      Money              `json:"money,omitzero"`      // 0 if no price is known
	Most       Money              `json:"most"`                // the most that the run may spend
	Low        PlanEstimateBound  `json:"low,omitzero"`        // rarely undercut
	High       PlanEstimateBound  `json:"high,omitzero"`       // rarely exceeded
	Samples    int                `json:"samples,omitzero"`    // earlier tasks that it is based on
	Thumb      int                `json:"thumb,omitzero"`      // tasks that are estimated by a rule of thumb
	Unpriced   int                `json:"unpriced,omitzero"`   // tasks whose models have no known price
	Confidence EstimateConfidence `json:"confidence,omitzero"` // the lowest confidence of the tasks
	Tasks      []TaskEstimate     `json:"by_task,omitempty"`   // in the plan's order
}

// PlanEstimateBound is one end of the range of an estimate.
type PlanEstimateBound struct {
	Minutes int   `json:"minutes"`
	Money   Money `json:"money,omitzero"`
}

// EstimateConfidence is how reliable an estimate is.
type EstimateConfidence string

// Values of Confidence.
const (
	LowConfidence    EstimateConfidence = "low"    // a rule of thumb: it may be off by a factor of three either way
	MediumConfidence EstimateConfidence = "medium" // based on some landed tasks
	HighConfidence   EstimateConfidence = "high"   // based on many landed tasks with similar times
)

// TaskEstimate is the forecast of one task's time and cost. One in ten tasks needs less than
// Low, and one in ten more than High.
type TaskEstimate struct {
	Task       TaskID             `json:"task"`
	Likely     TimeAndMoney       `json:"likely"`
	Low        TimeAndMoney       `json:"low"`
	High       TimeAndMoney       `json:"high"`
	Confidence EstimateConfidence `json:"confidence"`
	// landed tasks that it is based on; 0: it is a rule of thumb
	Samples  int                  `json:"samples,omitzero"`
	From     string               `json:"from,omitzero"`     // which landed tasks: "go tasks that began at fast"
	Unpriced bool                 `json:"unpriced,omitzero"` // no price is known, so it contains no money
	Parts    []EstimateAdjustment `json:"parts,omitempty"`   // parts of Likely, whose sum it is
}

// TimeAndMoney is time and money.
type TimeAndMoney struct {
	Seconds int64 `json:"seconds"`
	Money   Money `json:"money,omitzero"`
}

// EstimateAdjustment is one addition to an estimate, or one deduction from it.
type EstimateAdjustment struct {
	What string `json:"what"`
	TimeAndMoney
}

// EstimateBasis is the time and cost of earlier runs of a repository, and the cost of a turn, as
// known when a run began. The estimates of the run's tasks are based on it.
type EstimateBasis struct {
	Rates map[Tier]TierTurnCost `json:"rates,omitempty"` // tiers without a known price are missing
	Paces []EstimateCalibration `json:"paces,omitempty"`
}

// TierTurnCost is the cost of a usual turn at a tier.
type TierTurnCost struct {
	Writer   Money `json:"writer"`
	Reviewer Money `json:"reviewer"`
}

// EstimateCalibration compares landed tasks of a stack that began at a tier with the rule of thumb.
type EstimateCalibration struct {
	Stack string        `json:"stack,omitzero"` // empty: any stack
	Tier  Tier          `json:"tier,omitzero"`  // empty: any tier
	Tasks int           `json:"tasks"`
	Time  EstimateRange `json:"time"`           // thousandths of the time by the rule of thumb
	Paid  int           `json:"paid,omitzero"`  // the number of these tasks that cost money
	Money EstimateRange `json:"money,omitzero"` // for each turn of the rule of thumb, in the unit of [Money]
}

// EstimateRange is a low, a likely and a high value: one in ten is below the low one, and
// one in ten above the high one.
type EstimateRange struct {
	Low    int64 `json:"low"`
	Likely int64 `json:"likely"`
	High   int64 `json:"high"`
}
