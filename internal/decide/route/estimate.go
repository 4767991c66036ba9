package route

import (
	"cmp"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/graph"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// enough is how many landed tasks it takes to estimate from them.
const enough = 3

// What a task is taken to need where too few have landed: a rule of thumb,
// which says so wherever it is shown. It may be wrong threefold either way.
const (
	begin       = 6      // turns that a coder needs besides one a minute
	reviewTurns = 4      // turns of a reviewer
	fresh       = 1_500  // tokens that a turn adds to the prompt
	kept        = 12_000 // tokens of the prompt that the cache holds
	said        = 500    // tokens of an answer
	wrong       = 3
)

// span is a low, a likely and a high value: one in ten tasks was below the
// low one, and one in ten above the high one.
type span[T ~int64] [3]T

func (s span[T]) plus(o span[T]) span[T] { return span[T]{s[0] + o[0], s[1] + o[1], s[2] + o[2]} }

// around returns what a rule of thumb says about a value.
func around[T ~int64](v T) span[T] { return span[T]{v / wrong, v, v * wrong} }

// Price returns what tokens cost that a role uses for a task at its tier;
// false where it is not known.
type Price func(role nexus.Role, t nexus.Task, u nexus.Usage) (nexus.Money, bool)

// EstimateOf is what an estimate is made of.
type EstimateOf struct {
	Tasks    []nexus.Task
	Route    func(nexus.Task) nexus.TaskRouted // how hard a task is, and where it begins
	Parallel int                               // attempts at once
	Most     nexus.Money                       // what the run can spend at the worst: its budget
	Price    Price
}

// Estimate returns what tasks may come to: by earlier tasks of the same
// complexity, by all earlier ones where those are too few, and by a rule of
// thumb where those are too. Without a price of each task there is none of
// all.
func (h *Stats) Estimate(a EstimateOf) nexus.Estimate {
	e := nexus.Estimate{Most: a.Most}
	var money span[nexus.Money]
	var work span[time.Duration]
	spans := map[nexus.TaskID]span[time.Duration]{}
	seen := map[nexus.Complexity]bool{} // whose earlier tasks were asked
	for _, t := range a.Tasks {
		r := a.Route(t)
		t.Tier = r.Tier
		past := h.tasks[r.Complexity]
		of := r.Complexity
		if len(past) < enough {
			past, of = h.all(), ""
		}
		took, paid := around(minutes(t, r.Complexity)), span[nexus.Money]{}
		byTime, byMoney := len(past) >= enough, len(priced(past)) >= enough
		if byTime {
			took = spread(past, func(t ended) time.Duration { return t.time })
		}
		if byMoney {
			paid = spread(priced(past), func(t ended) nexus.Money { return t.money })
		} else if m, ok := thumb(t, minutes(t, r.Complexity), a.Price); ok {
			paid = around(m)
		} else {
			e.Unpriced++
		}
		if byTime || byMoney {
			seen[of] = true
		}
		if !byTime || !byMoney && paid[1] > 0 {
			e.Thumb++
		}
		money, work, spans[t.ID] = money.plus(paid), work.plus(took), took
	}
	e.Samples = h.samples(seen)
	if e.Unpriced > 0 {
		money = span[nexus.Money]{}
	}
	until := func(i int) int {
		longest := longest(a.Tasks, func(t nexus.Task) time.Duration { return spans[t.ID][i] })
		return wholeMinutes(max(longest, work[i]/time.Duration(max(a.Parallel, 1))))
	}
	e.Work, e.Minutes, e.Money = wholeMinutes(work[1]), until(1), money[1]
	e.Low, e.High = nexus.Bound{Minutes: until(0), Money: money[0]}, nexus.Bound{Minutes: until(2), Money: money[2]}
	return e
}

// wholeMinutes returns minutes, rounded up.
func wholeMinutes(d time.Duration) int { return int((d + time.Minute - 1) / time.Minute) }

// minutes returns how long a task is thought to take: as its plan says, or by
// how hard it is.
func minutes(t nexus.Task, c nexus.Complexity) time.Duration {
	n := t.Minutes
	if n == 0 {
		n = map[nexus.Complexity]int{nexus.Medium: 25, nexus.Complex: 40, nexus.Expert: 60}[c]
	}
	return time.Duration(cmp.Or(n, 15)) * time.Minute
}

// thumb returns what a task may cost that takes so long.
func thumb(t nexus.Task, d time.Duration, price Price) (nexus.Money, bool) {
	coder, ok := price(nexus.Coder, t, turns(begin+int64(d/time.Minute)))
	reviewer, both := price(nexus.Reviewer, t, turns(reviewTurns))
	return coder + reviewer, ok && both
}

// turns returns the tokens of so many turns of a conversation.
func turns(n int64) nexus.Usage {
	return nexus.Usage{Input: fresh * n, CacheRead: kept * n, Output: said * n}
}

// longest returns how long the longest path of the tasks takes.
func longest(tasks []nexus.Task, took func(nexus.Task) time.Duration) time.Duration {
	g, err := graph.New(tasks)
	if err != nil {
		return 0
	}
	total := g.Longest(func(t nexus.Task) int { return int(took(t) / time.Second) })
	return time.Duration(total) * time.Second
}

// priced returns the tasks that cost something: who worked without a known
// price, or for nothing, says nothing of money.
func priced(tasks []ended) []ended {
	return slices.DeleteFunc(slices.Clone(tasks), func(t ended) bool { return t.money <= 0 })
}

// samples counts the earlier tasks of the complexities; those of all where
// that was asked.
func (h *Stats) samples(seen map[nexus.Complexity]bool) int {
	if seen[""] {
		return len(h.all())
	}
	n := 0
	for c := range seen {
		n += len(h.tasks[c])
	}
	return n
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
func spread[T ~int64](tasks []ended, of func(ended) T) span[T] {
	values := make([]T, len(tasks))
	for i, t := range tasks {
		values[i] = of(t)
	}
	slices.SortFunc(values, func(a, b T) int { return cmp.Compare(a, b) })
	at := func(tenths int) T { return values[(len(values)-1)*tenths/10] }
	return span[T]{at(1), at(5), at(9)}
}
