package route

import (
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/graph"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Price returns the price of the tokens that a role uses for a task at its tier, or false if
// it is unknown.
type Price func(role nexus.Role, t nexus.Task, u nexus.Usage) (nexus.Money, bool)

// EstimateInput is the input of an estimate.
type EstimateInput struct {
	Tasks    []nexus.Task
	Route    func(nexus.Task) nexus.TaskRouted // complexity and starting tier of a task
	Parallel int                               // parallel attempts
	Most     nexus.Money                       // the most that the run can spend: its budget
	Price    Price
}

// Experience returns the basis of estimates. It asks price for the cost of a usual turn at
// each tier.
func (h *Stats) Experience(price Price) *nexus.Experience {
	x := &nexus.Experience{Paces: h.Paces()}
	for _, tier := range []nexus.Tier{nexus.Fast, nexus.Balanced, nexus.Strong} {
		if rate, ok := rateOf(price, nexus.Task{Tier: tier}); ok {
			if x.Rates == nil {
				x.Rates = map[nexus.Tier]nexus.Rate{}
			}
			x.Rates[tier] = rate
		}
	}
	return x
}

// rateOf returns the cost of a usual turn for a task, or false if it is unknown.
func rateOf(price Price, t nexus.Task) (nexus.Rate, bool) {
	writer, ok := price(nexus.Coder, t, UsualTurn())
	reviewer, both := price(nexus.Reviewer, t, UsualTurn())
	return nexus.Rate{Writer: writer, Reviewer: reviewer}, ok && both
}

// Estimate returns the forecast for tasks. Unless each task has a price, there is no total
// price.
func (h *Stats) Estimate(a EstimateInput) nexus.Estimate {
	paces := h.Paces()
	return a.sum(func(t nexus.Task) *nexus.Experience {
		x := nexus.Experience{Paces: paces}
		if rate, ok := rateOf(a.Price, t); ok {
			x.Rates = map[nexus.Tier]nexus.Rate{t.Tier: rate}
		}
		return &x
	})
}

// EstimateFrom returns the result of [Stats.Estimate] from the data that a run had at its
// start, without a Price.
func EstimateFrom(x *nexus.Experience, a EstimateInput) nexus.Estimate {
	return a.sum(func(nexus.Task) *nexus.Experience { return x })
}

// sum adds up the tasks, each with the data known for it at its tier.
func (a EstimateInput) sum(known func(nexus.Task) *nexus.Experience) nexus.Estimate {
	e := nexus.Estimate{Most: a.Most}
	seen := map[string]int{} // number of landed tasks that were used
	var all [3]nexus.Cost
	spans := map[nexus.TaskID][3]nexus.Cost{}
	for _, t := range a.Tasks {
		r := a.Route(t)
		t.Tier = r.Tier
		of, ruled := expect(known(t), t, r.Complexity, r.Tier)
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
		if e.Confidence == "" || less(of.Confidence, e.Confidence) {
			e.Confidence = of.Confidence
		}
		spans[t.ID] = [3]nexus.Cost{of.Low, of.Likely, of.High}
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
		path := longest(a.Tasks, func(t nexus.Task) time.Duration { return seconds(spans[t.ID][i]) })
		return wholeMinutes(max(path, seconds(all[i])/time.Duration(max(a.Parallel, 1))))
	}
	e.Work, e.Minutes, e.Money = wholeMinutes(seconds(all[1])), until(1), all[1].Money
	e.Low, e.High = nexus.Bound{Minutes: until(0), Money: all[0].Money}, nexus.Bound{Minutes: until(2), Money: all[2].Money}
	return e
}

func seconds(c nexus.Cost) time.Duration { return time.Duration(c.Seconds) * time.Second }

// less reports whether one confidence is below another.
func less(a, b nexus.Confidence) bool {
	rank := map[nexus.Confidence]int{nexus.MediumConfidence: 1, nexus.HighConfidence: 2}
	return rank[a] < rank[b]
}

// wholeMinutes returns minutes, rounded up.
func wholeMinutes(d time.Duration) int { return int((d + time.Minute - 1) / time.Minute) }

// longest returns the duration of the longest path of the tasks.
func longest(tasks []nexus.Task, took func(nexus.Task) time.Duration) time.Duration {
	g, err := graph.New(tasks)
	if err != nil {
		return 0
	}
	total := g.CriticalPathLength(func(i int) int { return int(took(tasks[i]) / time.Second) })
	return time.Duration(total) * time.Second
}
