// Package budget keeps the ledger of a run: what was spent, what is set aside
// for calls in flight, and whether one more call may be made.
//
// Before a call its worst case is reserved; afterwards it is settled with what
// it cost. So spending passes a cap by nothing as long as the worst case is
// one, and by one call at most where a provider charges more than that.
package budget

import (
	"maps"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Ledger is the money of one run. It belongs to whoever folds the run's
// facts and is not safe for concurrent use. The zero Ledger buys nothing.
type Ledger struct {
	run, task, day nexus.Money // caps; task and day may be 0 for none
	others         nexus.Money // spent by other runs on this day
	spent          nexus.Money
	reserved       nexus.Money
	open           map[string]nexus.BudgetReserved
	tasks          map[nexus.TaskID]nexus.Money // settled and reserved
}

// Cap sets the caps from limits, and what other runs have spent on this day.
// Neither resets what this run has spent.
func (l *Ledger) Cap(limits nexus.Limits, others nexus.Money) {
	l.run, l.task, l.day, l.others = limits.RunMoney, limits.TaskMoney, limits.DayMoney, others
}

// Check returns why a reservation would pass a cap, and false when it fits.
// An amount below zero never fits.
func (l *Ledger) Check(r nexus.BudgetReserved) (nexus.BudgetRefused, bool) {
	return l.check(r, l.reserved, l.tasks[r.Task])
}

// MayFit reports whether a reservation would fit if every call in flight
// turned out to cost nothing: then waiting may help.
func (l *Ledger) MayFit(r nexus.BudgetReserved) bool {
	_, refused := l.check(r, 0, l.tasks[r.Task]-l.reservedFor(r.Task))
	return !refused
}

func (l *Ledger) reservedFor(id nexus.TaskID) nexus.Money {
	var sum nexus.Money
	for _, r := range l.open {
		if r.Task == id {
			sum += r.Money
		}
	}
	return sum
}

// Of returns how many calls of a role are in flight.
func (l *Ledger) Of(role nexus.Role) int {
	n := 0
	for _, r := range l.open {
		if r.Role == role {
			n++
		}
	}
	return n
}

func (l *Ledger) check(r nexus.BudgetReserved, reserved, task nexus.Money) (nexus.BudgetRefused, bool) {
	held := l.spent + reserved
	caps := []struct {
		name  string
		limit nexus.Money
		spent nexus.Money
		on    bool
	}{
		{"task", l.task, task, l.task > 0 && r.Task != ""},
		{"run", l.run, held, true},
		{"day", l.day, held + l.others, l.day > 0},
	}
	for _, c := range caps {
		if c.on && (r.Money < 0 || r.Money > c.limit-c.spent) {
			return nexus.BudgetRefused{Task: r.Task, Cap: c.name, Limit: c.limit, Spent: c.spent, Asked: r.Money}, true
		}
	}
	return nexus.BudgetRefused{}, false
}

// Reserve sets the worst case of a call aside. A second reservation of the
// same ID changes nothing.
func (l *Ledger) Reserve(r nexus.BudgetReserved) {
	if _, ok := l.open[r.ID]; ok {
		return
	}
	if l.open == nil {
		l.open, l.tasks = map[string]nexus.BudgetReserved{}, map[nexus.TaskID]nexus.Money{}
	}
	l.open[r.ID] = r
	l.reserved += r.Money
	l.tasks[r.Task] += r.Money
}

// Settle replaces a reservation by what the call cost and returns it. An
// unknown or settled ID changes nothing and returns false, so that a call is
// never counted twice.
func (l *Ledger) Settle(s nexus.BudgetSpent) (nexus.BudgetReserved, bool) {
	r, ok := l.open[s.ID]
	if !ok {
		return r, false
	}
	delete(l.open, s.ID)
	l.reserved -= r.Money
	l.spent += s.Money
	l.tasks[r.Task] += s.Money - r.Money
	return r, true
}

// Open returns the reservation with this ID.
func (l *Ledger) Open(id string) (nexus.BudgetReserved, bool) {
	r, ok := l.open[id]
	return r, ok
}

// Unsettled returns the IDs of the reservations without an outcome, sorted.
func (l *Ledger) Unsettled() []string { return slices.Sorted(maps.Keys(l.open)) }

// Spent returns what was settled.
func (l *Ledger) Spent() nexus.Money { return l.spent }

// Reserved returns what is set aside for calls in flight.
func (l *Ledger) Reserved() nexus.Money { return l.reserved }

// Limit returns the run's cap.
func (l *Ledger) Limit() nexus.Money { return l.run }

// Pressure returns the highest of 0, 50, 75, 90 and 100 percent of the run's
// or the day's cap that settled spending has reached.
func (l *Ledger) Pressure() int {
	used := share(l.spent, l.run)
	if l.day > 0 {
		used = max(used, share(l.spent+l.others, l.day))
	}
	for _, mark := range []int{100, 90, 75, 50} {
		if used >= float64(mark) {
			return mark
		}
	}
	return 0
}

func share(spent, limit nexus.Money) float64 {
	if spent <= 0 {
		return 0
	}
	if limit <= 0 {
		return 100
	}
	return 100 * spent.Float() / limit.Float()
}
