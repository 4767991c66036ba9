package route

import (
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/taskgraph"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// RolePriceFunc returns the price of the tokens that a role uses for a task at its tier, or false if
// it is unknown.
type RolePriceFunc func(role nexus.Role, t nexus.Task, u nexus.Usage) (nexus.Money, bool)

// EstimateInput is the input of an estimate.
type EstimateInput struct {
	Tasks    []nexus.Task
	Route    func(nexus.Task) nexus.StartTierChosen // complexity and starting tier of a task
	Parallel int                                    // parallel attempts
	Most     nexus.Money                            // the most that the run can spend: its budget
	Price    RolePriceFunc
}

// EstimateBasis returns the basis of estimates. It asks price for the cost of a usual turn at
// each tier.
func (h *PastRunStatistics) EstimateBasis(price RolePriceFunc) *nexus.EstimateBasis {
	x := &nexus.EstimateBasis{Paces: h.EstimateCalibrations()}
	for _, tier := range []nexus.Tier{nexus.Fast, nexus.Balanced, nexus.Strong} {
		if rate, ok := turnRateOf(price, nexus.Task{Tier: tier}); ok {
			if x.Rates == nil {
				x.Rates = map[nexus.Tier]nexus.TierTurnCost{}
			}
			x.Rates[tier] = rate
		}
	}
	return x
}

// turnRateOf returns the cost of a usual turn for a task, or false if it is unknown.
func turnRateOf(price RolePriceFunc, t nexus.Task) (nexus.TierTurnCost, bool) {
	writer, ok := price(nexus.Coder, t, UsualTurnUsage())
	reviewer, both := price(nexus.Reviewer, t, UsualTurnUsage())
	return nexus.TierTurnCost{Writer: writer, Reviewer: reviewer}, ok && both
}

// Estimate returns the forecast for tasks. Unless each task has a price, there is no total
// price.
func (h *PastRunStatistics) Estimate(a EstimateInput) nexus.PlanEstimate {
	paces := h.EstimateCalibrations()
	return a.sumEstimates(func(t nexus.Task) *nexus.EstimateBasis {
		x := nexus.EstimateBasis{Paces: paces}
		if rate, ok := turnRateOf(a.Price, t); ok {
			x.Rates = map[nexus.Tier]nexus.TierTurnCost{t.Tier: rate}
		}
		return &x
	})
}

// EstimateFromBasis returns the result of [PastRunStatistics.Estimate] from the data that a run had at its
// start, without a Price.
func EstimateFromBasis(x *nexus.EstimateBasis, a EstimateInput) nexus.PlanEstimate {
	return a.sumEstimates(func(nexus.Task) *nexus.EstimateBasis { return x })
}

// sumEstimates adds up the tasks, each with the data known for it at its tier.
func (a EstimateInput) sumEstimates(known func(nexus.Task) *nexus.EstimateBasis) nexus.PlanEstimate {
	e := nexus.PlanEstimate{Most: a.Most}
	seen := map[string]int{} // number of landed tasks that were used
	var all [3]nexus.TimeAndMoney
	spans := map[nexus.TaskID][3]nexus.TimeAndMoney{}
	for _, t := range a.Tasks {
		r := a.Route(t)
		t.Tier = r.Tier
		of, ruled := estimateTask(known(t), t, r.Complexity, r.Tier)
		e.Tasks = append(e.Tasks, of)
		if of.Unpriced {
			e.Unpriced++
		}
		if of.Samples > 0 {
			seen[of.From] = of.Samples
		}
		if ruled {
			e.Thumb++
		}
		if e.Confidence == "" || isLessConfident(of.Confidence, e.Confidence) {
			e.Confidence = of.Confidence
		}
		spans[t.ID] = [3]nexus.TimeAndMoney{of.Low, of.Likely, of.High}
		for i, c := range spans[t.ID] {
			all[i].Seconds, all[i].Money = all[i].Seconds+c.Seconds, all[i].Money+c.Money
		}
	}
	for _, n := range seen {
		e.Samples = max(e.Samples, n)
	}
	if e.Unpriced > 0 {
		all[0].Money, all[1].Money, all[2].Money = 0, 0, 0
	}
	until := func(i int) int {
		path := longestPath(a.Tasks, func(t nexus.Task) time.Duration { return durationOf(spans[t.ID][i]) })
		return roundUpMinutes(max(path, durationOf(all[i])/time.Duration(max(a.Parallel, 1))))
	}
	e.Work, e.Minutes, e.Money = roundUpMinutes(durationOf(all[1])), until(1), all[1].Money
	e.Low, e.High = nexus.PlanEstimateBound{Minutes: until(0), Money: all[0].Money}, nexus.PlanEstimateBound{Minutes: until(2), Money: all[2].Money}
	return e
}

func durationOf(c nexus.TimeAndMoney) time.Duration { return time.Duration(c.Seconds) * time.Second }

// isLessConfident reports whether one confidence is below another.
func isLessConfident(a, b nexus.EstimateConfidence) bool {
	rank := map[nexus.EstimateConfidence]int{nexus.MediumConfidence: 1, nexus.HighConfidence: 2}
	return rank[a] < rank[b]
}

// roundUpMinutes returns minutes, rounded up.
func roundUpMinutes(d time.Duration) int { return int((d + time.Minute - 1) / time.Minute) }

// longestPath returns the duration of the longest path of the tasks.
func longestPath(tasks []nexus.Task, took func(nexus.Task) time.Duration) time.Duration {
	g, err := taskgraph.NewTaskGraph(tasks)
	if err != nil {
		return 0
	}
	total := g.CriticalPathLength(func(i int) int { return int(took(tasks[i]) / time.Second) })
	return time.Duration(total) * time.Second
}
