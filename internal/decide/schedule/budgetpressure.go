package schedule

import (
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/decide/route"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Percentages of the run's or the day's money at which parallel work is reduced. People are
// notified at each one.
const (
	narrow = 75 // half as many attempts at once
	last   = 90 // one at a time, and tasks that have not begun start a tier lower
)

// allowedParallelAttempts returns the maximum number of parallel attempts: fewer as money runs out, so that
// the rest finishes some tasks instead of starting all.
func allowedParallelAttempts(s *state.State) int {
	n := s.Limits.Parallel
	switch p := s.Ledger.SpendingPressure(); {
	case p >= last, s.Limits.Step:
		n = 1
	case p >= narrow:
		n /= 2
	}
	return max(1, n)
}

// lowerTiersUnderPressure lowers the starting tier of tasks that have not begun when money
// runs out, unless the plan names the tier.
func lowerTiersUnderPressure(s *state.State) []nexus.Fact {
	if s.Ledger.SpendingPressure() < last {
		return nil
	}
	var fs []nexus.Fact
	for _, t := range s.Tasks {
		r := t.Route
		if t.Status != nexus.Pending || !t.IsUntried() || r == nil || r.By == route.Manual || r.By == route.Budget {
			continue
		}
		lower := t.Tier
		switch t.Tier {
		case nexus.Strong:
			lower = nexus.Balanced
		case nexus.Balanced:
			lower = nexus.Fast
		case nexus.Fast:
		}
		if lower == t.Tier || isTierClosed(s, lower) {
			continue
		}
		fs = append(fs, nexus.StartTierChosen{
			Task: t.ID, Complexity: r.Complexity, Tier: lower, By: route.Budget, Why: fmt.Sprintf("%d %% of the budget is used", s.Ledger.SpendingPressure()),
			Strategy: r.Strategy, Chosen: r.Chosen,
		})
	}
	return fs
}
