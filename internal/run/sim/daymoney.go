package sim

import (
	"context"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run"
	"github.com/nexus-ai-builder/nexus/internal/run/sim/toy"
	"github.com/nexus-ai-builder/nexus/internal/sys/dailybudget"
)

// dayPurse is the day's money, of which the audit knows more than a run does.
type dayPurse interface {
	run.DailyBudget
	Others(day string) nexus.Money
}

// dayMoney is the day's money. It outlives every process. Other runs spend the part that the
// present claim leaves to them.
type dayMoney struct {
	now    func() time.Time
	pick   func(n int) int
	day    string
	own    nexus.Money
	others nexus.Money
}

// Claim implements [playToEnd.DailyBudget].
func (p *dayMoney) Claim(_ context.Context, own, limit nexus.Money) (nexus.BudgetShared, bool, error) {
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

// Others returns the spending of other runs on a day.
func (p *dayMoney) Others(day string) nexus.Money {
	if day != p.day {
		return 0
	}
	return p.others
}

// sharedDayMoney is the day's money of runs that continue side by side.
type sharedDayMoney map[string]map[string]nexus.Money

// dayMoneyShare is a run's part of a till.
type dayMoneyShare struct {
	till sharedDayMoney
	run  string
	now  func() time.Time
}

// Claim implements [playToEnd.DailyBudget].
func (s dayMoneyShare) Claim(_ context.Context, own, limit nexus.Money) (nexus.BudgetShared, bool, error) {
	day := s.now().UTC().Format(time.DateOnly)
	if s.till[day] == nil {
		s.till[day] = map[string]nexus.Money{}
	}
	others, granted := dailybudget.CheckShare(s.till[day], s.run, own, limit)
	if granted {
		s.till[day][s.run] = own
	}
	return nexus.BudgetShared{Day: day, Others: others}, granted, nil
}

// Others returns the amount that other runs have spent on a day, or may still spend.
func (s dayMoneyShare) Others(day string) nexus.Money {
	others, _ := dailybudget.CheckShare(s.till[day], s.run, 0, 0)
	return others
}
