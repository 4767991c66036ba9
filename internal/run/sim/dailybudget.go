package sim

import (
	"context"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run"
	"github.com/nexus-ai-builder/nexus/internal/run/sim/toyworld"
	"github.com/nexus-ai-builder/nexus/internal/sys/dailybudget"
)

// auditedDailyBudget is the day's money, of which the audit knows more than a run does.
type auditedDailyBudget interface {
	run.DailyBudget
	Others(day string) nexus.Money
}

// simulatedDailyBudget is the day's money. It outlives every process. Other runs spend the part that the
// present claim leaves to them.
type simulatedDailyBudget struct {
	now    func() time.Time
	pick   func(n int) int
	day    string
	own    nexus.Money
	others nexus.Money
}

// Claim implements [playToEnd.DailyBudget].
func (p *simulatedDailyBudget) Claim(_ context.Context, own, limit nexus.Money) (nexus.OtherRunsSpendingRecorded, bool, error) {
	if day := p.now().UTC().Format(time.DateOnly); day != p.day {
		p.day, p.own, p.others = day, 0, 0
	}
	if more := toyworld.Worst * nexus.Money(p.pick(3)); p.pick(8) == 0 && limit > 0 && p.own+p.others+more <= limit {
		p.others += more
	}
	granted := limit <= 0 || own+p.others <= limit
	if granted {
		p.own = own
	}
	return nexus.OtherRunsSpendingRecorded{Day: p.day, Others: p.others}, granted, nil
}

// Others returns the spending of other runs on a day.
func (p *simulatedDailyBudget) Others(day string) nexus.Money {
	if day != p.day {
		return 0
	}
	return p.others
}

// sharedDailySpending is the day's money of runs that continue side by side.
type sharedDailySpending map[string]map[string]nexus.Money

// runDailyBudgetShare is a run's part of the day's money.
type runDailyBudgetShare struct {
	till sharedDailySpending
	run  string
	now  func() time.Time
}

// Claim implements [playToEnd.DailyBudget].
func (s runDailyBudgetShare) Claim(_ context.Context, own, limit nexus.Money) (nexus.OtherRunsSpendingRecorded, bool, error) {
	day := s.now().UTC().Format(time.DateOnly)
	if s.till[day] == nil {
		s.till[day] = map[string]nexus.Money{}
	}
	others, granted := dailybudget.CheckWithinDailyLimit(s.till[day], s.run, own, limit)
	if granted {
		s.till[day][s.run] = own
	}
	return nexus.OtherRunsSpendingRecorded{Day: day, Others: others}, granted, nil
}

// Others returns the amount that other runs have spent on a day, or may still spend.
func (s runDailyBudgetShare) Others(day string) nexus.Money {
	others, _ := dailybudget.CheckWithinDailyLimit(s.till[day], s.run, 0, 0)
	return others
}
