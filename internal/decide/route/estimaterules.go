package route

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Assumed needs of a task if too few have landed: a rule of thumb, which is marked wherever
// it is shown. It may be off by a factor of three either way.
const (
	begin       = 6      // turns of a coder besides one per minute
	reviewTurns = 4      // turns of a reviewer
	fresh       = 1_500  // tokens that a turn adds to the prompt
	kept        = 12_000 // tokens of the prompt that the cache contains
	said        = 500    // tokens of an answer
	wrong       = 3
)

// Minutes that are added to a task whose plan has no estimate.
const (
	bare       = 10
	perFile    = 5
	perMedium  = 10
	perComplex = 25
	perExpert  = 45
	perTests   = 5
)

// UsualTurnUsage returns the tokens of a usual turn, which a [nexus.TierTurnCost] is the price of.
func UsualTurnUsage() nexus.Usage { return nexus.Usage{Input: fresh, CacheRead: kept, Output: said} }

// turnsForTime returns the turns of all roles for a task with this time by the rule of thumb.
func turnsForTime(thumb time.Duration) int64 { return begin + int64(thumb/time.Minute) + reviewTurns }

// estimateParts returns the parts of a task's estimate by the rule of thumb.
func estimateParts(t nexus.Task, c nexus.Complexity, rate nexus.TierTurnCost) []nexus.EstimateAdjustment {
	var all []nexus.EstimateAdjustment
	add := func(minutes int64, more nexus.Money, format string, args ...any) {
		if minutes > 0 || more > 0 {
			cost := nexus.TimeAndMoney{Seconds: 60 * minutes, Money: nexus.Money(minutes)*rate.Writer + more}
			all = append(all, nexus.EstimateAdjustment{What: fmt.Sprintf(format, args...), TimeAndMoney: cost})
		}
	}
	settle := begin * rate.Writer
	if t.Minutes > 0 {
		add(int64(t.Minutes), settle, "work, as the plan says")
	} else {
		files := max(1, len(t.Files))
		add(bare, settle, "reading, and getting started")
		add(int64(perFile*files), 0, "%s to change", countText(files, "file"))
		add(map[nexus.Complexity]int64{nexus.Medium: perMedium, nexus.Complex: perComplex, nexus.Expert: perExpert}[c], 0, "it looks %s", c)
		if n := countUnchecked(t); n > 0 && t.Kind != nexus.DocsTask {
			add(int64(perTests*n), 0, "tests for %s without a check", countText(n, "criterion"))
		}
	}
	add(0, reviewTurns*rate.Reviewer, "review")
	return all
}

// countUnchecked counts the criteria for which a test must be written.
func countUnchecked(t nexus.Task) int {
	n := 0
	for _, c := range t.Criteria {
		if c.Check == "" {
			n++
		}
	}
	return n
}

// ruleOfThumbTime returns a task's time by the rule of thumb.
func ruleOfThumbTime(t nexus.Task, c nexus.Complexity) time.Duration {
	return time.Duration(totalCost(estimateParts(t, cmp.Or(c, nexus.Simple), nexus.TierTurnCost{})).Seconds) * time.Second
}

func countText(n int, word string) string {
	switch {
	case n == 1:
	case strings.HasSuffix(word, "criterion"):
		word = strings.TrimSuffix(word, "criterion") + "criteria"
	default:
		word += "s"
	}
	return fmt.Sprintf("%d %s", n, word)
}
