package improveloop

import (
	"maps"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// applyCallBudget applies a call of a model that searches for work: its worst case is
// reserved before it.
func (l *ImproveLoop) applyCallBudget(f nexus.Fact) {
	switch f := f.(type) {
	case nexus.BudgetReserved:
		if l.calls == nil {
			l.calls = map[string]nexus.Money{}
		}
		l.calls[f.ID] = f.Money
	case nexus.BudgetSettled:
		if _, open := l.calls[f.ID]; open {
			delete(l.calls, f.ID)
			l.Spent, l.asked = l.Spent+f.Money, l.asked+f.Money
		}
	default:
	}
}

// LostCallFacts returns the facts that settle the calls of a process that died: their cost is
// unknown, so they count at their worst case.
func (l *ImproveLoop) LostCallFacts() []nexus.Fact {
	var all []nexus.Fact
	for _, id := range slices.Sorted(maps.Keys(l.calls)) {
		all = append(all, nexus.BudgetSettled{ID: id, Money: l.calls[id], Estimated: true})
	}
	return all
}
