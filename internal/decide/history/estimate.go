package history

import (
	"cmp"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// enough is how many landed tasks it takes to estimate from them.
const enough = 3

// Range is a low, a likely and a high value: one in ten tasks was below the
// low one, and one in ten above the high one.
type Range[T ~int64] struct {
	Low    T `json:"low"`
	Likely T `json:"likely"`
	High   T `json:"high"`
}

func (r Range[T]) plus(o Range[T]) Range[T] {
	return Range[T]{r.Low + o.Low, r.Likely + o.Likely, r.High + o.High}
}

// Estimate is what tasks may come to. Work counts every attempt's time; what
// runs side by side takes less.
type Estimate struct {
	Money   Range[nexus.Money]   `json:"money"`
	Work    Range[time.Duration] `json:"work"`
	Tasks   int                  `json:"tasks"`
	Known   int                  `json:"known"`   // of the tasks: estimated from earlier ones
	Unknown int                  `json:"unknown"` // of the tasks: nothing is known of their price
}

// Price returns what tokens cost at a tier, and false where that is unknown.
type Price func(t nexus.Tier, u nexus.Usage) (nexus.Money, bool)

// Estimate sums up what the routed tasks may come to: by earlier tasks of the
// same complexity, by all earlier ones where those are too few, and by a rule
// of thumb where there are none.
func (h *Stats) Estimate(routed []nexus.TaskRouted, price Price) Estimate {
	e := Estimate{Tasks: len(routed)}
	for _, r := range routed {
		past := h.tasks[r.Complexity]
		if len(past) < enough {
			past = h.all()
		}
		if len(past) >= enough {
			e.Known++
			e.Money = e.Money.plus(spread(past, func(t ended) nexus.Money { return t.money }))
			e.Work = e.Work.plus(spread(past, func(t ended) time.Duration { return t.time }))
			continue
		}
		turns := thumb(r.Complexity)
		work := time.Duration(turns) * 15 * time.Second
		e.Work = e.Work.plus(Range[time.Duration]{work / 3, work, 3 * work})
		money, ok := price(r.Tier, nexus.Usage{Input: 1500 * turns, CacheRead: 12_000 * turns, Output: 600 * turns})
		if !ok {
			e.Unknown++
			continue
		}
		e.Money = e.Money.plus(Range[nexus.Money]{money / 3, money, 3 * money})
	}
	return e
}

// thumb is how many model calls a task is taken to need before anything is
// known: writing, testing, repair and review together.
func thumb(c nexus.Complexity) int64 {
	switch c {
	case nexus.Expert:
		return 60
	case nexus.Complex:
		return 40
	case nexus.Medium:
		return 25
	default:
		return 15
	}
}

// all returns the earlier tasks of every complexity.
func (h *Stats) all() []ended {
	var all []ended
	for _, c := range []nexus.Complexity{nexus.Simple, nexus.Medium, nexus.Complex, nexus.Expert} {
		all = append(all, h.tasks[c]...)
	}
	return all
}

// spread returns the value that a tenth, half and nine tenths of the tasks do
// not pass.
func spread[T ~int64](tasks []ended, of func(ended) T) Range[T] {
	values := make([]T, len(tasks))
	for i, t := range tasks {
		values[i] = of(t)
	}
	slices.SortFunc(values, func(a, b T) int { return cmp.Compare(a, b) })
	at := func(tenths int) T { return values[(len(values)-1)*tenths/10] }
	return Range[T]{at(1), at(5), at(9)}
}
