package route

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// enough is the minimum number of landed tasks for an estimate based on them.
const enough = 3

// tenth is the distance, in standard deviations from the middle, beyond which a tenth of all
// values lies.
const tenth = 1.2816

// Assumed spread of tasks before any has landed, as a standard deviation of logarithms, and
// its weight in tasks.
const (
	differs = 0.5
	worth   = 1
)

// taskPaceGroup is a group of tasks for comparison. The zero group contains all.
type taskPaceGroup struct {
	stack string
	tier  nexus.Tier
}

// comparisonGroups returns the groups for a task, the most similar tasks first.
func comparisonGroups(stack string, tier nexus.Tier) []taskPaceGroup {
	var all []taskPaceGroup
	for _, g := range []taskPaceGroup{{stack, tier}, {stack, ""}, {"", tier}, {}} {
		if !slices.Contains(all, g) { // without a stack, two of them are the same
			all = append(all, g)
		}
	}
	return all
}

// EstimateCalibrations compares the landed tasks with the rule of thumb, for each stack and tier and for
// combinations with enough tasks, in a fixed order.
func (h *PastRunStatistics) EstimateCalibrations() []nexus.EstimateCalibration {
	if h == nil {
		return nil
	}
	var order []taskPaceGroup
	of := map[taskPaceGroup][]landedTask{}
	for _, e := range h.landed {
		for _, g := range comparisonGroups(e.stack, e.tier) {
			if of[g] == nil {
				order = append(order, g)
			}
			of[g] = append(of[g], e)
		}
	}
	slices.SortStableFunc(order, func(a, b taskPaceGroup) int {
		return cmp.Or(cmp.Compare(a.stack, b.stack), cmp.Compare(a.tier, b.tier))
	})
	var all []nexus.EstimateCalibration
	for _, g := range order {
		if p, ok := calibrationOfGroup(g, of[g]); ok {
			all = append(all, p)
		}
	}
	return all
}

// calibrationOfGroup summarizes the tasks of a group, or returns false if there are too few.
func calibrationOfGroup(g taskPaceGroup, tasks []landedTask) (nexus.EstimateCalibration, bool) {
	if len(tasks) < enough {
		return nexus.EstimateCalibration{}, false
	}
	var time, money []float64
	for _, e := range tasks {
		time = append(time, 1000*float64(max(e.time, 1))/float64(e.thumb))
		if e.money > 0 { // a task without a price or cost is no evidence about money
			money = append(money, float64(e.money)/float64(turnsForTime(e.thumb)))
		}
	}
	p := nexus.EstimateCalibration{Stack: g.stack, Tier: g.tier, Tasks: len(tasks), Time: fitSpread(time)}
	if len(money) >= enough {
		p.Paid, p.Money = len(money), fitSpread(money)
	}
	return p, true
}

// fitSpread returns the expected range of the next of such values: fewer values and a larger spread
// make it wider.
func fitSpread(values []float64) nexus.EstimateRange {
	n := float64(len(values))
	mean := 0.0
	for _, v := range values {
		mean += math.Log(v) / n
	}
	sum := worth * differs * differs
	for _, v := range values {
		sum += (math.Log(v) - mean) * (math.Log(v) - mean)
	}
	free := n - 1 + worth
	wide := studentQuantile(free) * math.Sqrt(sum/free*(1+1/n))
	at := func(x float64) int64 { return max(1, int64(math.Round(math.Exp(x)))) }
	return nexus.EstimateRange{Low: at(mean - wide), Likely: at(mean), High: at(mean + wide)}
}

// studentQuantile returns [tenth] for values whose standard deviation is itself an estimate.
func studentQuantile(free float64) float64 {
	const z = tenth
	return z + (z*z*z+z)/(4*free) + (5*z*z*z*z*z+16*z*z*z+3*z)/(96*free*free)
}

// paceOfSimilarTasks returns the pace of the tasks that are most similar to one, or false if too few
// landed.
func paceOfSimilarTasks(x *nexus.EstimateBasis, stack string, tier nexus.Tier) (nexus.EstimateCalibration, bool) {
	if x == nil {
		return nexus.EstimateCalibration{}, false
	}
	for _, g := range comparisonGroups(stack, tier) {
		for _, p := range x.Paces {
			if p.Stack == g.stack && p.Tier == g.tier && p.Tasks >= enough {
				return p, true
			}
		}
	}
	return nexus.EstimateCalibration{}, false
}

// blendEstimates returns a value between the rule of thumb and the average of a number of tasks. The
// rule counts as one task.
func blendEstimates(thumb, past float64, tasks int) float64 {
	w := float64(tasks) / float64(tasks+1)
	return math.Exp((1-w)*math.Log(thumb) + w*math.Log(past))
}

// paceText describes the tasks of a pace in words.
func paceText(p nexus.EstimateCalibration) string {
	text := "tasks"
	if p.Stack != "" {
		text = p.Stack + " tasks"
	}
	if p.Tier != "" {
		text += " that began at " + string(p.Tier)
	}
	return text
}

// confidenceOf returns the confidence of an estimate.
func confidenceOf(p nexus.EstimateCalibration, low, high int64) nexus.EstimateConfidence {
	switch {
	case p.Tasks < enough:
		return nexus.LowConfidence
	case p.Tasks >= 10 && high <= 4*low:
		return nexus.HighConfidence
	}
	return nexus.MediumConfidence
}

// EstimateTask returns the estimate for a task of a complexity that starts at a tier: by a rule of
// thumb, and by the most similar landed tasks as soon as there are three.
func EstimateTask(x *nexus.EstimateBasis, t nexus.Task, c nexus.Complexity, tier nexus.Tier) nexus.TaskEstimate {
	e, _ := estimateTask(x, t, c, tier)
	return e
}

// estimateTask returns the result of [EstimateTask], and reports whether a part of it is a rule of thumb.
func estimateTask(x *nexus.EstimateBasis, t nexus.Task, c nexus.Complexity, tier nexus.Tier) (e nexus.TaskEstimate, ruled bool) {
	e = nexus.TaskEstimate{Task: t.ID, Confidence: nexus.LowConfidence}
	var rate nexus.TierTurnCost
	priced := false
	if x != nil {
		rate, priced = x.Rates[tier]
	}
	e.Parts = estimateParts(t, c, rate)
	thumb := totalCost(e.Parts)
	low, likely, high := scaleCost(thumb, 1.0/wrong), thumb, scaleCost(thumb, wrong)
	p, ok := paceOfSimilarTasks(x, stack.MainStack(t.Files), tier)
	if ok {
		e.Samples, e.From = p.Tasks, paceText(p)
		at := func(rule float64, past int64) int64 {
			return max(1, int64(math.Round(float64(thumb.Seconds)*blendEstimates(rule, float64(past)/1000, p.Tasks))))
		}
		low.Seconds, likely.Seconds, high.Seconds = at(1.0/wrong, p.Time.Low), at(1, p.Time.Likely), at(wrong, p.Time.High)
	}
	if p.Paid >= enough {
		of := turnsForTime(time.Duration(thumb.Seconds) * time.Second)
		at := func(rule nexus.Money, past int64) nexus.Money {
			if !priced || rule <= 0 {
				return nexus.Money(of * past)
			}
			return nexus.Money(blendEstimates(float64(rule), float64(of*past), p.Paid))
		}
		low.Money, likely.Money, high.Money = at(low.Money, p.Money.Low), at(thumb.Money, p.Money.Likely), at(high.Money, p.Money.High)
		priced = true
	}
	e.Unpriced, ruled = !priced, !ok || p.Paid < enough && likely.Money > 0
	e.Low, e.Likely, e.High = low, likely, high
	e.Confidence = confidenceOf(p, low.Seconds, high.Seconds)
	if more := (nexus.TimeAndMoney{Seconds: likely.Seconds - thumb.Seconds, Money: likely.Money - thumb.Money}); more != (nexus.TimeAndMoney{}) {
		e.Parts = append(e.Parts, nexus.EstimateAdjustment{What: fmt.Sprintf("as %d landed %s took", p.Tasks, paceText(p)), TimeAndMoney: more})
	}
	return e, ruled
}

func scaleCost(c nexus.TimeAndMoney, times float64) nexus.TimeAndMoney {
	return nexus.TimeAndMoney{Seconds: int64(math.Round(float64(c.Seconds) * times)), Money: nexus.Money(float64(c.Money) * times)}
}

func totalCost(all []nexus.EstimateAdjustment) nexus.TimeAndMoney {
	var c nexus.TimeAndMoney
	for _, p := range all {
		c.Seconds, c.Money = c.Seconds+p.Seconds, c.Money+p.Money
	}
	return c
}
