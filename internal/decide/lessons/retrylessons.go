package lessons

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/runhistory"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// tierFailure is a failure at a tier.
type tierFailure struct {
	tier  nexus.Tier
	after string
}

// retryResultSums are the results of another attempt at the same tier.
type retryResultSums struct {
	n, landed   int
	quick, slow decayedSums
	seen        int // failures, with any next step
}

// decayedSums are sums of cases in which a case loses weight with each later one.
type decayedSums struct{ weight, good, cost float64 }

// isWasteful reports whether another attempt costs more than it saves.
func (w decayedSums) isWasteful(next float64) bool {
	return w.cost/w.weight*margin > w.good/w.weight*next
}

// learnRetries returns the failures after which another attempt at the same tier costs more than
// it saves: it is more expensive than the next tier, given its success rate.
func learnRetries(tasks []runhistory.TaskRecord, o Options) []nexus.RetryTierLesson {
	all := map[tierFailure]*retryResultSums{}
	var order []tierFailure
	free := !slices.ContainsFunc(tasks, func(t runhistory.TaskRecord) bool { return t.Money > 0 })
	for age, t := range slices.Backward(tasks) {
		for i, a := range t.Tries {
			if !a.Counts || a.Accepted {
				continue
			}
			k := tierFailure{a.Tier, a.EndReason()}
			if all[k] == nil {
				all[k] = &retryResultSums{}
				order = append(order, k)
			}
			all[k].seen++
			if i+1 < len(t.Tries) && len(tasks)-1-age < window {
				all[k].add(t.Tries[i+1], k.tier, free)
			}
		}
	}
	seen, long := collectTierStats(tasks, quick), collectTierStats(tasks, slow)
	slices.SortStableFunc(order, func(a, b tierFailure) int {
		return cmp.Or(cmp.Compare(tierRank(a.tier), tierRank(b.tier)), cmp.Compare(a.after, b.after))
	})
	var out []nexus.RetryTierLesson
	for _, k := range order {
		g := all[k]
		next, ok := k.tier.NextTier()
		if !ok || g.n < o.Sample || seen[next].n == 0 || o.Able != nil && !o.Able(next) {
			continue
		}
		if !g.quick.isWasteful(seen.expectedCost(next)) || !g.slow.isWasteful(long.expectedCost(next)) {
			continue
		}
		out = append(out, nexus.RetryTierLesson{
			Tier: k.tier, After: k.after, Tasks: g.n, Seen: g.seen, Every: rarely,
			Why: fmt.Sprintf("another try at %s after %s landed %d of %d times", k.tier, k.after, g.landed, g.n),
		})
	}
	return out
}

// add counts the result after a failure, if that was another attempt at the tier. The newest
// come first.
func (g *retryResultSums) add(next runhistory.AttemptSummary, tier nexus.Tier, free bool) {
	if next.Tier != tier || !next.Counts || g.n >= window {
		return
	}
	cost := next.Money.Dollars()
	if free {
		cost = relativeCost(tier)
	}
	for w, fade := range map[*decayedSums]float64{&g.quick: quick, &g.slow: slow} {
		weight := math.Pow(fade, float64(g.n))
		w.weight += weight
		w.cost += weight * cost
		if next.Accepted {
			w.good += weight
		}
	}
	g.n++
	if next.Accepted {
		g.landed++
	}
}
