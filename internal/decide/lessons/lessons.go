// Package lessons draws lessons for a new run from what earlier ones came to: at
// which tier work begins, what follows on a failure, in which order gates judge, and
// which files go with a task.
//
// A lesson rests on a number of cases, the latest weigh most, and none is older than
// the last hundred of its sort. It is tried against the usual way now and then, so
// that it is dropped when models or the code have changed. What comes of a lesson
// is decided elsewhere: this package only says what the cases show, and why.
package lessons

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/history"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// window is how many cases of a sort are looked at, the latest.
const window = 100

// What a case weighs for each case after it: where only the latest count, and where
// more of them do. A lesson holds while both say so. So a row of bad luck teaches
// nothing, and what has changed is forgotten after a few cases.
const (
	quick = 0.8
	slow  = 0.97
)

// doubt is how many cases it is worth, where some failed, that one may work after
// all: half of them.
const doubt = 0.5

// Options say what may be learned.
type Options struct {
	Sample int                                   // fewest cases that a lesson rests on
	Usual  func(nexus.Complexity) nexus.Tier     // where work begins without a lesson
	Off    map[nexus.LessonKind]bool             // what nothing is learned about
	Since  map[nexus.LessonKind]time.Time        // tasks that ended before were forgotten
	Able   func(tier nexus.Tier) (attempts bool) // attempts may be made at a tier; nil: at all
}

// Learn returns what the runs teach, the oldest first.
func Learn(runs []history.Run, o Options) *nexus.Lessons {
	o.Sample = max(1, o.Sample)
	l := &nexus.Lessons{}
	if !o.Off[nexus.RoutingLesson] {
		l.Tiers = tiers(tasksOf(runs, o.Since[nexus.RoutingLesson]), o)
	}
	if !o.Off[nexus.RetryLesson] {
		l.Retries = retries(tasksOf(runs, o.Since[nexus.RetryLesson]), o)
	}
	if !o.Off[nexus.GateOrder] {
		l.Gates = gates(runs, o.Since[nexus.GateOrder], o.Sample)
	}
	if !o.Off[nexus.TouchLesson] {
		l.Touched = companionFiles(tasksOf(runs, o.Since[nexus.TouchLesson]), o.Sample, func(t history.Task) []string { return t.Changed })
	}
	if !o.Off[nexus.ContextLesson] {
		l.Read = companionFiles(tasksOf(runs, o.Since[nexus.ContextLesson]), o.Sample, func(t history.Task) []string { return t.Read })
	}
	return l
}

// tasksOf returns the tasks that work has begun on and ended since a time, the
// oldest first.
func tasksOf(runs []history.Run, since time.Time) []history.Task {
	var all []history.Task
	for _, r := range runs {
		for _, t := range r.Tasks {
			if len(t.Tries) > 0 && t.Status.Ended() && !t.Ended.Before(since) {
				all = append(all, t)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b history.Task) int { return a.Ended.Compare(b.Ended) })
	return all
}

// taskClass is what tasks are told apart by. The zero kind and stack are any.
type taskClass struct {
	complexity nexus.Complexity
	kind       nexus.TaskKind
	stack      string
}

// taskClasses returns the sorts that a task is of, the closest first.
func taskClasses(t history.Task) []taskClass {
	c := cmp.Or(t.Complexity, nexus.Simple)
	return []taskClass{{c, t.Kind, t.Stack}, {c, t.Kind, ""}, {c, "", ""}}
}

// tiers returns where work on tasks of each sort begins.
func tiers(tasks []history.Task, o Options) []nexus.TierLearned {
	var order []taskClass
	of := map[taskClass][]history.Task{}
	for _, t := range tasks {
		for _, k := range taskClasses(t) {
			if of[k] == nil {
				order = append(order, k)
			}
			of[k] = append(of[k], t)
		}
	}
	slices.SortStableFunc(order, func(a, b taskClass) int {
		narrow := func(k taskClass) int { return b2i(k.kind == "") + b2i(k.stack == "") }
		return cmp.Or(cmp.Compare(narrow(a), narrow(b)), cmp.Compare(a.complexity, b.complexity), cmp.Compare(a.kind,
			b.kind), cmp.Compare(a.stack, b.stack))
	})
	var all []nexus.TierLearned
	for _, k := range order {
		if l, ok := tierOf(k, of[k], o); ok {
			all = append(all, l)
		}
	}
	return all
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// tierOf returns where work on tasks of a sort is cheapest to begin, false where too
// few tried the usual tier.
func tierOf(k taskClass, tasks []history.Task, o Options) (nexus.TierLearned, bool) {
	usual := o.Usual(k.complexity)
	seen, long := collectTierStats(tasks, quick), collectTierStats(tasks, slow)
	if seen[usual].n < o.Sample {
		return nexus.TierLearned{}, false
	}
	l := nexus.TierLearned{
		Complexity: k.complexity, Kind: k.kind, Stack: k.stack, Usual: usual, Tier: usual,
		Tasks: seen[usual].n, Seen: len(tasks),
	}
	from := seen.expectedCost(usual)
	best := from
	for _, tier := range ladder() {
		if tier == usual || o.Able != nil && !o.Able(tier) || rank(tier) < rank(usual) && seen[tier].n < o.Sample {
			continue // what is weaker than usual must have shown that it can
		}
		if cost := seen.expectedCost(tier); cost < best*margin && long.expectedCost(tier) < long.expectedCost(usual)*margin {
			l.Tier, best = tier, cost
		}
	}
	if l.Tier == usual {
		return l, true
	}
	l.Every = seen[usual].spacing()
	l.Why = fmt.Sprintf("%d of %d tasks of this kind failed at %s", seen[usual].failed, seen[usual].n, usual)
	if rank(l.Tier) < rank(usual) {
		at := seen[l.Tier]
		l.Why = fmt.Sprintf("%d of %d tasks of this kind landed from %s", at.n-at.failed, at.n, l.Tier)
	}
	return l, true
}

// margin is how much cheaper than the usual way another one must be.
const margin = 0.95

func ladder() []nexus.Tier { return []nexus.Tier{nexus.Fast, nexus.Balanced, nexus.Strong} }

func rank(t nexus.Tier) int { return slices.Index(ladder(), t) }

// tierStats is what tasks came to at a tier.
type tierStats struct {
	n, failed    int
	weight, lost float64 // of all, and of those that failed
	cost         float64 // with weights
	trail        []bool  // whether each failed, the latest first
}

type statsByTier map[nexus.Tier]*tierStats

// collectTierStats sums up what the last tasks came to at each tier. One weighs that much for
// each that came after it.
func collectTierStats(tasks []history.Task, fade float64) statsByTier {
	all := statsByTier{}
	for _, t := range ladder() {
		all[t] = &tierStats{}
	}
	free := !slices.ContainsFunc(tasks, func(t history.Task) bool { return t.Money > 0 })
	for _, t := range slices.Backward(tasks) {
		for _, tier := range ladder() {
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

// outcomeAtTier returns what a task came to at a tier, where that says something. Where
// nothing costs money, tries are counted at what those of such a tier usually cost.
func outcomeAtTier(t history.Task, tier nexus.Tier, free bool) (cost float64, accepted, counted bool) {
	for _, a := range t.Tries {
		if a.Tier != tier || !a.Counts {
			continue
		}
		counted, accepted = true, accepted || a.Accepted
		if free {
			cost += relativeCost(tier)
		} else {
			cost += a.Money.Float()
		}
	}
	return cost, accepted, counted
}

// relativeCost is how much dearer a try at a tier is than at the weakest, where nothing
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

// expectedCost returns what a landed task costs that begins at a tier: what it costs there,
// and at the next tier as often as it fails.
func (v statsByTier) expectedCost(tier nexus.Tier) float64 {
	at := v.rate(tier)
	next, ok := tier.Next()
	if !ok {
		return at.cost / max(0.1, 1-at.failed)
	}
	return max(at.cost, v.rate(next).cost*waits) + at.failed*v.expectedCost(next)
}

// waits is what a try costs at least, of what one at the next tier does, however
// cheap its model is: people wait for it.
const waits = 0.15

// rated is what a task costs at a tier, and how likely it fails there.
type rated struct{ cost, failed float64 }

// rate returns it. A tier that nobody tried is as dear as tiers usually are, compared
// with the nearest that somebody did.
func (v statsByTier) rate(tier nexus.Tier) rated {
	switch at := v[tier]; {
	case at.n > 0 && at.lost == 0:
		return rated{cost: at.cost / at.weight}
	case at.n > 0:
		return rated{at.cost / at.weight, (at.lost + doubt/2) / (at.weight + doubt)}
	}
	near := nexus.Tier("")
	for _, other := range ladder() {
		if v[other].n > 0 && (near == "" || distance(tier, other) < distance(tier, near)) {
			near = other
		}
	}
	if near == "" {
		return rated{relativeCost(tier), 0.5}
	}
	return rated{v[near].cost / v[near].weight * relativeCost(tier) / relativeCost(near), 0.5}
}

func distance(a, b nexus.Tier) int { return max(rank(a)-rank(b), rank(b)-rank(a)) }

// How often the usual way is tried while a lesson holds: the more often in a row it
// failed, the more rarely; at once again when it worked.
const (
	often  = 2
	some   = 5
	rarely = 10
)

// spacing returns how often the usual way is tried.
func (v *tierStats) spacing() int {
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
