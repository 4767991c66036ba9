package route

import (
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// samples is how many earlier tries at tasks of a complexity it takes before
// they say anything.
const samples = 10

// price is what a try at a tier is taken to cost.
func price(t nexus.Tier) float64 {
	switch t {
	case nexus.Strong:
		return 0.08
	case nexus.Balanced:
		return 0.02
	default:
		return 0.005
	}
}

// adaptive takes the tier that is cheapest in the end: as the run learned from
// earlier ones or, in a journal without lessons, by its own price, and that of the
// next tier as often as this one has failed.
func adaptive(r nexus.Routing) tierFunc {
	return func(t nexus.Task) (nexus.TaskRouted, bool) {
		f, _ := keyword(t)
		if t.Complexity != "" {
			f.Complexity = t.Complexity
		}
		if r.Lessons != nil {
			return learned(r.Lessons, t, f)
		}
		tries, total := map[nexus.Tier]nexus.Past{}, 0
		for _, p := range r.Past {
			if p.Complexity == f.Complexity {
				tries[p.Tier] = p
				total += p.Tries
			}
		}
		if total < samples {
			return nexus.TaskRouted{}, false
		}
		best := nexus.Strong
		cost := price(best)
		for _, tier := range []nexus.Tier{nexus.Balanced, nexus.Fast} {
			if c := effective(tries, tier); c <= cost {
				best, cost = tier, c
			}
		}
		f.Tier = best
		f.Why = fmt.Sprintf("%d earlier attempts at %s tasks: a landed task costs about $%.3f from this tier", total, f.Complexity, cost)
		return f, true
	}
}

// effective returns the price of a tier with what its failures cost. The
// price of a failure is that of all that follows it, and not of one try at the
// next tier, or else a tier that never succeeds would look cheap.
func effective(tries map[nexus.Tier]nexus.Past, tier nexus.Tier) float64 {
	next, ok := tier.Next()
	if !ok {
		return price(tier)
	}
	return price(tier) + failure(tries[tier])*effective(tries, next)
}

// failure returns the share of tries that failed; half, as long as there were
// none.
func failure(p nexus.Past) float64 {
	if p.Tries == 0 {
		return 0.5
	}
	return float64(p.Failed) / float64(p.Tries)
}
