// Package lessons derives lessons for a new run from the results of earlier ones: the
// starting tier of tasks, the next step after a failure, the order of gates, and the files
// that go with a task.
//
// A lesson is based on a number of cases. The newest cases count most, and only the last
// hundred of a kind are used. At intervals the usual way is tried anyway, so that a lesson is
// dropped when models or the code have changed. This package only returns what the cases
// show, with reasons; other packages apply the lessons.
package lessons

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/runhistory"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// window is the number of cases of a kind that are used, the newest ones.
const window = 100

// Factors by which a case loses weight with each later case: a fast one, with which only the
// newest count, and a slow one. A lesson is valid only if both give the same result. So a few
// random failures cause no lesson, and changes are noticed after a few cases.
const (
	quick = 0.8
	slow  = 0.97
)

// doubt is the weight of assumed cases, half of them failed, that are added to the known ones:
// a tier at which all cases failed may still work.
const doubt = 0.5

// Options set which lessons are derived.
type Options struct {
	Sample int                                   // minimum number of cases of a lesson
	Usual  func(nexus.Complexity) nexus.Tier     // starting tier without the lesson
	Off    map[nexus.LessonKind]bool             // kinds of lessons that are switched off
	Since  map[nexus.LessonKind]time.Time        // tasks that ended before are ignored
	Able   func(tier nexus.Tier) (attempts bool) // reports whether attempts are possible at a tier; nil: at all
}

// LearnLessons returns the lessons of runs, given oldest first.
func LearnLessons(runs []runhistory.RunRecord, o Options) *nexus.RunLessons {
	o.Sample = max(1, o.Sample)
	l := &nexus.RunLessons{}
	if !o.Off[nexus.RoutingLesson] {
		l.Tiers = learnTiers(tasksOf(runs, o.Since[nexus.RoutingLesson]), o)
	}
	if !o.Off[nexus.RetryLesson] {
		l.Retries = learnRetries(tasksOf(runs, o.Since[nexus.RetryLesson]), o)
	}
	if !o.Off[nexus.GateOrder] {
		l.Gates = learnGateOrder(runs, o.Since[nexus.GateOrder], o.Sample)
	}
	if !o.Off[nexus.TouchLesson] {
		l.Touched = learnCompanionFiles(tasksOf(runs, o.Since[nexus.TouchLesson]), o.Sample, func(t runhistory.TaskRecord) []string { return t.Changed })
	}
	if !o.Off[nexus.ContextLesson] {
		l.Read = learnCompanionFiles(tasksOf(runs, o.Since[nexus.ContextLesson]), o.Sample, func(t runhistory.TaskRecord) []string { return t.Read })
	}
	return l
}

// tasksOf returns the tasks that were started and ended since a time, the oldest first.
func tasksOf(runs []runhistory.RunRecord, since time.Time) []runhistory.TaskRecord {
	var all []runhistory.TaskRecord
	for _, r := range runs {
		for _, t := range r.Tasks {
			if len(t.Tries) > 0 && t.Status.HasEnded() && !t.Ended.Before(since) {
				all = append(all, t)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b runhistory.TaskRecord) int { return a.Ended.Compare(b.Ended) })
	return all
}

// taskClass is a class of tasks. The zero kind and stack mean any.
type taskClass struct {
	complexity nexus.Complexity
	kind       nexus.TaskKind
	stack      string
}

// taskClasses returns the classes of a task, the most specific first.
func taskClasses(t runhistory.TaskRecord) []taskClass {
	c := cmp.Or(t.Complexity, nexus.Simple)
	return []taskClass{{c, t.Kind, t.Stack}, {c, t.Kind, ""}, {c, "", ""}}
}

// learnTiers returns the starting tiers of tasks, by class.
func learnTiers(tasks []runhistory.TaskRecord, o Options) []nexus.StartTierLesson {
	var order []taskClass
	of := map[taskClass][]runhistory.TaskRecord{}
	for _, t := range tasks {
		for _, k := range taskClasses(t) {
			if of[k] == nil {
				order = append(order, k)
			}
			of[k] = append(of[k], t)
		}
	}
	slices.SortStableFunc(order, func(a, b taskClass) int {
		narrow := func(k taskClass) int { return boolToInt(k.kind == "") + boolToInt(k.stack == "") }
		return cmp.Or(cmp.Compare(narrow(a), narrow(b)), cmp.Compare(a.complexity, b.complexity), cmp.Compare(a.kind,
			b.kind), cmp.Compare(a.stack, b.stack))
	})
	var all []nexus.StartTierLesson
	for _, k := range order {
		if l, ok := cheapestTier(k, of[k], o); ok {
			all = append(all, l)
		}
	}
	return all
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// cheapestTier returns the cheapest starting tier for a class of tasks, or false if too few tasks
// used the usual tier.
func cheapestTier(k taskClass, tasks []runhistory.TaskRecord, o Options) (nexus.StartTierLesson, bool) {
	usual := o.Usual(k.complexity)
	seen, long := collectTierStats(tasks, quick), collectTierStats(tasks, slow)
	if seen[usual].n < o.Sample {
		return nexus.StartTierLesson{}, false
	}
	l := nexus.StartTierLesson{
		Complexity: k.complexity, Kind: k.kind, Stack: k.stack, Usual: usual, Tier: usual,
		Tasks: seen[usual].n, Seen: len(tasks),
	}
	from := seen.expectedCost(usual)
	best := from
	for _, tier := range tierOrder() {
		if tier == usual || o.Able != nil && !o.Able(tier) || tierRank(tier) < tierRank(usual) && seen[tier].n < o.Sample {
			continue // a weaker tier needs evidence of success
		}
		if cost := seen.expectedCost(tier); cost < best*margin && long.expectedCost(tier) < long.expectedCost(usual)*margin {
			l.Tier, best = tier, cost
		}
	}
	if l.Tier == usual {
		return l, true
	}
	l.Every = seen[usual].retryInterval()
	l.Why = fmt.Sprintf("%d of %d tasks of this kind failed at %s", seen[usual].failed, seen[usual].n, usual)
	if tierRank(l.Tier) < tierRank(usual) {
		at := seen[l.Tier]
		l.Why = fmt.Sprintf("%d of %d tasks of this kind landed from %s", at.n-at.failed, at.n, l.Tier)
	}
	return l, true
}

// margin is the maximum ratio of another tier's cost to the usual one's for it to be chosen.
const margin = 0.95

func tierOrder() []nexus.Tier { return []nexus.Tier{nexus.Fast, nexus.Balanced, nexus.Strong} }

func tierRank(t nexus.Tier) int { return slices.Index(tierOrder(), t) }

// tierResultSums are the results of tasks at a tier.
type tierResultSums struct {
	n, failed    int
	weight, lost float64 // of all tasks, and of the failed ones
	cost         float64 // weighted
	trail        []bool  // whether each failed, the newest first
}

type resultSumsByTier map[nexus.Tier]*tierResultSums

// collectTierStats collects the results of the last tasks at each tier. A task's weight is
// multiplied by fade for each later one.
func collectTierStats(tasks []runhistory.TaskRecord, fade float64) resultSumsByTier {
	all := resultSumsByTier{}
	for _, t := range tierOrder() {
		all[t] = &tierResultSums{}
	}
	free := !slices.ContainsFunc(tasks, func(t runhistory.TaskRecord) bool { return t.Money > 0 })
	for _, t := range slices.Backward(tasks) {
		for _, tier := range tierOrder() {
			v := all[tier]
			if len(v.trail) >= window {
				continue
			}
			cost, accepted, counted := outcomeAtTier(t, tier, free)
			if !counted {
				continue
			}
			weight := math.Pow(fade, float64(len(v.trail)))
			v.n++
			v.weight += weight
			v.cost += weight * cost
			v.trail = append(v.trail, !accepted)
			if !accepted {
				v.failed++
				v.lost += weight
			}
		}
	}
	return all
}

// outcomeAtTier returns the result of a task at a tier, if it is evidence. If models cost
// nothing, attempts count at the usual cost of their tier.
func outcomeAtTier(t runhistory.TaskRecord, tier nexus.Tier, free bool) (cost float64, accepted, counted bool) {
	for _, a := range t.Tries {
		if a.Tier != tier || !a.Counts {
			continue
		}
		counted, accepted = true, accepted || a.Accepted
		if free {
			cost += relativeCost(tier)
		} else {
			cost += a.Money.Dollars()
		}
	}
	return cost, accepted, counted
}

// relativeCost is the cost of an attempt at a tier relative to the weakest one, if nothing
// else is known.
func relativeCost(t nexus.Tier) float64 {
	switch t {
	case nexus.Strong:
		return 16
	case nexus.Balanced:
		return 4
	default:
		return 1
	}
}

// expectedCost returns the expected cost of a landed task that starts at a tier: its cost
// there, plus the cost at the next tier times the failure rate.
func (v resultSumsByTier) expectedCost(tier nexus.Tier) float64 {
	at := v.costAndFailureRate(tier)
	next, ok := tier.NextTier()
	if !ok {
		return at.cost / max(0.1, 1-at.failed)
	}
	return max(at.cost, v.costAndFailureRate(next).cost*waits) + at.failed*v.expectedCost(next)
}

// waits is the minimum cost of an attempt relative to one at the next tier, however cheap its
// model is, because people wait for it.
const waits = 0.15

// tierCostAndFailureRate is the cost of a task at a tier, and its failure rate there.
type tierCostAndFailureRate struct{ cost, failed float64 }

// costAndFailureRate returns the cost and the failure rate of a tier. A tier without any attempts has the
// usual cost of tiers, relative to the nearest one with attempts.
func (v resultSumsByTier) costAndFailureRate(tier nexus.Tier) tierCostAndFailureRate {
	switch at := v[tier]; {
	case at.n > 0 && at.lost == 0:
		return tierCostAndFailureRate{cost: at.cost / at.weight}
	case at.n > 0:
		return tierCostAndFailureRate{at.cost / at.weight, (at.lost + doubt/2) / (at.weight + doubt)}
	}
	near := nexus.Tier("")
	for _, other := range tierOrder() {
		if v[other].n > 0 && (near == "" || tierDistance(tier, other) < tierDistance(tier, near)) {
			near = other
		}
	}
	if near == "" {
		return tierCostAndFailureRate{relativeCost(tier), 0.5}
	}
	return tierCostAndFailureRate{v[near].cost / v[near].weight * relativeCost(tier) / relativeCost(near), 0.5}
}

func tierDistance(a, b nexus.Tier) int { return max(tierRank(a)-tierRank(b), tierRank(b)-tierRank(a)) }

// Limits of the interval at which the usual way is tried while a lesson is valid: it grows
// with failures in a row, and is reset by a success.
const (
	often  = 2
	some   = 5
	rarely = 10
)

// retryInterval returns the interval at which the usual way is tried.
func (v *tierResultSums) retryInterval() int {
	failed := 0
	for failed < len(v.trail) && v.trail[failed] {
		failed++
	}
	switch {
	case failed == 0:
		return often
	case failed < 8:
		return some
	}
	return rarely
}
