package state

import (
	"cmp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/budget"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// recordCost adds a call's cost to the cost tables.
func (s *State) recordCost(r nexus.BudgetReserved, f nexus.BudgetSettled) {
	tier := cmp.Or(r.Tier, s.tierOfSession(r.Session))
	provider, _, _ := strings.Cut(r.Model, "/")
	purpose := ""
	if c := s.sessionByID(r.Session); c != nil {
		purpose = c.Purpose
	}
	s.Spending.Add(f,
		budget.CostBreakdownKey{Way: budget.ByTask, Name: string(r.Task)},
		budget.CostBreakdownKey{Way: budget.BySession, Name: string(r.Session)},
		budget.CostBreakdownKey{Way: budget.ByRole, Name: string(r.Role)},
		budget.CostBreakdownKey{Way: budget.ByProvider, Name: provider},
		budget.CostBreakdownKey{Way: budget.ByModel, Name: r.Model},
		budget.CostBreakdownKey{Way: budget.ByTier, Name: string(tier)},
		budget.CostBreakdownKey{Way: budget.ByPurpose, Name: purpose},
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
