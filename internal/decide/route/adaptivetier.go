package route

import (
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// samples is the number of earlier attempts at tasks of a complexity that are needed as
// evidence.
const samples = 10

// assumedTierCost is the assumed cost of an attempt at a tier.
func assumedTierCost(t nexus.Tier) float64 {
	switch t {
	case nexus.Strong:
		return 0.08
	case nexus.Balanced:
		return 0.02
	default:
		return 0.005
	}
}

// adaptiveTier chooses the tier with the lowest expected cost: by the lessons of the run or, in a
// journal without lessons, by its own price plus the next tier's price times its failure
// rate.
func adaptiveTier(r nexus.StartTierRules) startTierFunc {
	return func(t nexus.Task) (nexus.StartTierChosen, bool) {
		f, _ := keywordTier(t)
		if t.Complexity != "" {
			f.Complexity = t.Complexity
		}
		if r.Lessons != nil {
			return learnedTier(r.Lessons, t, f)
		}
		tries, total := map[nexus.Tier]nexus.PastAttemptCounts{}, 0
		for _, p := range r.Past {
			if p.Complexity == f.Complexity {
				tries[p.Tier] = p
				total += p.Tries
			}
		}
		if total < samples {
			return nexus.StartTierChosen{}, false
		}
		best := nexus.Strong
		cost := assumedTierCost(best)
		for _, tier := range []nexus.Tier{nexus.Balanced, nexus.Fast} {
			if c := expectedPrice(tries, tier); c <= cost {
				best, cost = tier, c
			}
		}
		f.Tier = best
		f.Why = fmt.Sprintf("%d earlier attempts at %s tasks: a landed task costs about $%.3f from this tier", total, f.Complexity, cost)
		return f, true
	}
}

// expectedPrice returns the price of a tier including its failures. The price of a failure
// includes everything that follows, not one attempt at the next tier; otherwise a tier that
// never succeeds would look cheap.
func expectedPrice(tries map[nexus.Tier]nexus.PastAttemptCounts, tier nexus.Tier) float64 {
	next, ok := tier.NextTier()
	if !ok {
		return assumedTierCost(tier)
	}
	return assumedTierCost(tier) + failureShare(tries[tier])*expectedPrice(tries, next)
}

// failureShare returns the failure rate, or a half if there were no attempts.
func failureShare(p nexus.PastAttemptCounts) float64 {
	if p.Tries == 0 {
		return 0.5
	}
	return float64(p.Failed) / float64(p.Tries)
}
