package state

import (
	"cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Spend is what something cost.
type Spend struct {
	Calls int
	Money nexus.Money
	Usage nexus.Usage
}

// Spending is what a run cost, in the ways that people ask for it.
type Spending struct {
	ByRole    map[nexus.Role]Spend
	ByModel   map[string]Spend
	ByTier    map[nexus.Tier]Spend
	Estimated nexus.Money // the part that no provider told
}

func (p *Spending) add(s *State, r nexus.BudgetReserved, f nexus.BudgetSpent) {
	if p.ByRole == nil {
		*p = Spending{
			ByRole: map[nexus.Role]Spend{}, ByModel: map[string]Spend{}, ByTier: map[nexus.Tier]Spend{},
		}
	}
	var tier nexus.Tier
	if t := s.tasks[r.Task]; t != nil && t.Current() != nil {
		tier = t.Current().Tier
	}
	p.ByRole[r.Role] = p.ByRole[r.Role].plus(f)
	p.ByModel[r.Model] = p.ByModel[r.Model].plus(f)
	p.ByTier[cmp.Or(tier, "none")] = p.ByTier[cmp.Or(tier, "none")].plus(f)
	if f.Estimated {
		p.Estimated += f.Money
	}
}

func (s Spend) plus(f nexus.BudgetSpent) Spend {
	return Spend{s.Calls + 1, s.Money + f.Money, s.Usage.Add(f.Usage)}
}
