package sim

import (
	"context"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run"
	"github.com/nexus-ai-builder/nexus/internal/run/sim/toy"
)

var _ run.Purse = (*purse)(nil)

// purse is the day's money. It outlives every process. Other runs spend of it
// what the present claim leaves them.
type purse struct {
	now    func() time.Time
	pick   func(n int) int
	day    string
	own    nexus.Money
	others nexus.Money
}

// Claim implements [run.Purse].
func (p *purse) Claim(_ context.Context, own, limit nexus.Money) (nexus.BudgetShared, bool, error) {
	if day := p.now().UTC().Format(time.DateOnly); day != p.day {
		p.day, p.own, p.others = day, 0, 0
	}
	if more := toy.Worst * nexus.Money(p.pick(3)); p.pick(8) == 0 && limit > 0 && p.own+p.others+more <= limit {
		p.others += more
	}
	granted := limit <= 0 || own+p.others <= limit
	if granted {
		p.own = own
	}
	return nexus.BudgetShared{Day: p.day, Others: p.others}, granted, nil
}

// Others returns what other runs have spent on a day.
func (p *purse) Others(day string) nexus.Money {
	if day != p.day {
		return 0
	}
	return p.others
}
