package state

import (
	"cmp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/budget"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// recordCost adds a call's cost to the cost tables.
func (s *State) recordCost(r nexus.BudgetReserved, f nexus.BudgetSpent) {
	tier := cmp.Or(r.Tier, s.tierOfSession(r.Session))
	provider, _, _ := strings.Cut(r.Model, "/")
	purpose := ""
	if c := s.sessionByID(r.Session); c != nil {
		purpose = c.Purpose
	}
	s.Spending.Add(f,
		budget.BreakdownValue{Way: budget.ByTask, Name: string(r.Task)},
		budget.BreakdownValue{Way: budget.BySession, Name: string(r.Session)},
		budget.BreakdownValue{Way: budget.ByRole, Name: string(r.Role)},
		budget.BreakdownValue{Way: budget.ByProvider, Name: provider},
		budget.BreakdownValue{Way: budget.ByModel, Name: r.Model},
		budget.BreakdownValue{Way: budget.ByTier, Name: string(tier)},
		budget.BreakdownValue{Way: budget.ByPurpose, Name: purpose},
	)
}

// tierOfSession returns the tier of the attempt that a session belongs to; a merger's session belongs to the
// attempt that it merges. It is "" for sessions of no task.
func (s *State) tierOfSession(id nexus.SessionID) nexus.Tier {
	attempt := strings.TrimSuffix(string(attemptOfSession(id)), merge)
	if a := s.attempts[nexus.AttemptID(attempt)]; a != nil {
		return a.Tier
	}
	return ""
}
