package schedule

import (
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/decide/route"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// What is done at which percent of the run's or the day's money. At every
// mark people are told.
const (
	narrow = 75 // half as many attempts at once
	last   = 90 // one at a time, and what has not begun begins a tier lower
)

// parallel returns how many attempts may work at once: fewer as money runs
// out, so that what is left finishes some tasks and does not begin them all.
func parallel(s *state.State) int {
	n := s.Limits.Parallel
	switch p := s.Ledger.Pressure(); {
	case p >= last, s.Limits.Step:
		n = 1
	case p >= narrow:
		n /= 2
	}
	return max(1, n)
}

// lowerTiersUnderPressure lets tasks that have not begun begin a tier lower when money runs
// out, except where the plan names the tier.
func lowerTiersUnderPressure(s *state.State) []nexus.Fact {
	if s.Ledger.Pressure() < last {
		return nil
	}
	var fs []nexus.Fact
	for _, t := range s.Tasks {
		r := t.Route
		if t.Status != nexus.Pending || !t.Untried() || r == nil || r.By == route.Manual || r.By == route.Budget {
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
		fs = append(fs, nexus.TaskRouted{
			Task: t.ID, Complexity: r.Complexity, Tier: lower, By: route.Budget, Why: fmt.Sprintf("%d %% of the budget is used", s.Ledger.Pressure()),
			Strategy: r.Strategy, Chosen: r.Chosen,
		})
	}
	return fs
}
