package projection

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// Cost returns the cost of the run, by task, role, model, stage and day.
func (p *RunProjection) Cost(_ time.Time) RunCostView {
	bill := view.BillOf(p.state)
	c := RunCostView{
		RunMoney: bill.Money, Cached: bill.Cached, Estimated: bill.Estimated > 0, Projected: p.projectedCost(),
		Tasks: costShares(bill.Tasks), Roles: costShares(bill.Roles), Models: costShares(bill.Models), Stages: []RunCostPart{}, Days: []RunCostPart{},
	}
	stages := map[string]*RunCostPart{}
	for _, r := range c.Roles {
		name := roleStage(nexus.Role(r.Of)).String()
		s := stages[name]
		if s == nil {
			s = &RunCostPart{Of: name}
			stages[name] = s
		}
		s.Spent, s.Usage, s.Calls = s.Spent+r.Spent, s.Usage.Add(r.Usage), s.Calls+r.Calls
	}
	for _, name := range []string{"plan", "work", "review", "land"} {
		if s := stages[name]; s != nil {
			s.Cached = view.CacheShare(s.Usage)
			c.Stages = append(c.Stages, *s)
		}
	}
	for _, day := range slices.Sorted(maps.Keys(p.trail.days)) {
		d := p.trail.days[day]
		c.Days = append(c.Days, RunCostPart{Of: day, Spent: d.Money, Usage: d.Usage, Calls: d.Calls, Cached: view.CacheShare(d.Usage)})
	}
	return c
}

func costShares(all []view.CostShare) []RunCostPart {
	out := make([]RunCostPart, 0, len(all))
	for _, s := range all {
		out = append(out, RunCostPart{Of: s.Name, Spent: s.Money, Usage: s.Usage, Calls: s.Calls, Cached: view.CacheShare(s.Usage)})
	}
	return out
}

// projectedCost returns the estimated total cost of the run, from the average cost of its
// finished tasks; 0 before a task with work has ended.
func (p *RunProjection) projectedCost() nexus.Money {
	s := p.state
	if s.Status.HasEnded() {
		return s.Ledger.SpentMoney()
	}
	blocked := s.BlockerIndex()
	var ended, left int
	var spent, onOpen nexus.Money
	for _, t := range s.Tasks {
		switch {
		case t.Status == nexus.Split, t.Status == nexus.Skipped:
		case t.Status.HasEnded() && t.Spent > 0:
			ended, spent = ended+1, spent+t.Spent
		case !blocked.StatusOf(t).HasEnded():
			left, onOpen = left+1, onOpen+t.Spent
		}
	}
	if ended == 0 {
		return 0
	}
	each := spent / nexus.Money(ended)
	return s.Ledger.SpentMoney() + max(0, each*nexus.Money(left)-onOpen)
}

// GateResults returns the last result of each gate for each judged task.
func (p *RunProjection) GateResults() GateResultTable {
	c := GateResultTable{Gates: []string{}, Rows: []GateResultRow{}}
	seen := map[string]bool{}
	for _, t := range p.state.Tasks {
		row := GateResultRow{Task: t.ID, Title: t.Title, Gates: []GateView{}}
		at := map[string]int{}
		for _, a := range t.Attempts {
			judged := p.gateSpans(a.ID)
			for _, r := range a.UnpackedCopy().Rounds {
				for _, g := range newRoundView(r, judged).Gates {
					if !seen[g.Name] {
						seen[g.Name] = true
						c.Gates = append(c.Gates, g.Name)
					}
					if i, again := at[g.Name]; again {
						row.Gates[i] = g
						continue
					}
					at[g.Name] = len(row.Gates)
					row.Gates = append(row.Gates, g)
				}
			}
		}
		if len(row.Gates) > 0 {
			c.Rows = append(c.Rows, row)
		}
	}
	order := map[string]int{}
	for i, g := range p.state.Goal.Gates {
		order[g] = i + 1
	}
	slices.SortStableFunc(c.Gates, func(a, b string) int {
		return cmp.Compare(cmp.Or(order[a], len(order)+1), cmp.Or(order[b], len(order)+1))
	})
	return c
}
