package state

import (
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/budget"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// booked adds a call's cost to the cost tables.
func (s *State) booked(r nexus.BudgetReserved, f nexus.BudgetSpent) {
	tier := r.Tier
	if t := s.tasks[r.Task]; tier == "" && t != nil && t.Current() != nil {
		tier = t.Current().Tier
	}
	provider, _, _ := strings.Cut(r.Model, "/")
	purpose := ""
	if c := s.session(r.Session); c != nil {
		purpose = c.Purpose
	}
	s.Spending.Add(f,
		budget.BreakdownKey{Way: budget.ByTask, Name: string(r.Task)},
		budget.BreakdownKey{Way: budget.BySession, Name: string(r.Session)},
		budget.BreakdownKey{Way: budget.ByRole, Name: string(r.Role)},
		budget.BreakdownKey{Way: budget.ByProvider, Name: provider},
		budget.BreakdownKey{Way: budget.ByModel, Name: r.Model},
		budget.BreakdownKey{Way: budget.ByTier, Name: string(tier)},
		budget.BreakdownKey{Way: budget.ByPurpose, Name: purpose},
	)
}

// Wasted returns the cost of attempts that ended and were neither accepted nor landed.
func (s *State) Wasted() nexus.Money {
	var sum nexus.Money
	for _, t := range s.Tasks {
		for _, a := range t.Attempts {
			landed := t.Landed != nil && t.Landed.Attempt == a.ID
			if landed || a.Stage != Over || a.Outcome == nexus.Accepted {
				continue
			}
			sum += a.Spent()
		}
	}
	return sum
}
