// Package budget manages the ledger of a run: the money spent, the money reserved for calls
// in flight, and the decision whether one more call is allowed.
//
// Before a call its worst case is reserved; afterwards the reservation is settled with the
// actual cost. So spending never exceeds a cap if the worst case is correct. If a provider
// charges up to half as much again, spending exceeds a cap by one reserved call at most,
// however many are in flight: of their possible excess, all but one call's is kept free.
package budget

import (
	"maps"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// MoneyLedger is the money of one run. It belongs to the goroutine that applies the run's facts
// and is not safe for concurrent use. The zero Ledger buys nothing.
type MoneyLedger struct {
	limits nexus.Limits
	day    string      // the day of others and of today; empty: since the run began
	others nexus.Money // spent by other runs on this day
	today  nexus.Money // settled on this day
	open   map[string]nexus.BudgetReserved
	books  map[capSubject]capBalance
}

// capSubject is the unit of a cap: the cap, and the role, task or provider that it applies to.
type capSubject struct{ limit, of string }

// Names of the caps.
const (
	ofRun      = "run"
	ofTask     = "task"
	ofDay      = "day"
	ofRole     = "role"
	ofProvider = "provider"
	ofTokens   = "tokens"
)

// capBalance is the settled and the reserved amount, in billionths of a dollar or in tokens.
type capBalance struct{ spent, reserved int64 }

// SetCaps sets the caps from limits, and the money that other runs have spent on this day.
// Neither resets the spending of this run.
func (l *MoneyLedger) SetCaps(limits nexus.Limits, others nexus.Money) {
	l.limits, l.others = limits, others
}

// SetOthersSpent sets the money that all other runs have spent on a day. This run's spending
// on an earlier day no longer counts against the day.
func (l *MoneyLedger) SetOthersSpent(f nexus.OtherRunsSpendingRecorded) {
	if l.day != "" && f.Day != l.day {
		l.today = 0
	}
	l.day, l.others = f.Day, f.Others
}

// DayBudgetClaim returns the money that this run has spent on the day or may still spend with one more
// call, and the amount by which that may exceed the day's cap. The zero reservation is no
// call.
func (l *MoneyLedger) DayBudgetClaim(r nexus.BudgetReserved) (own, grace nexus.Money) {
	a := capSubject{ofDay, ""}
	aside := l.ReservedMoney() + r.Money
	return l.today + aside + overrunMargin(aside), nexus.Money(min(int64(overrunMargin(aside)), l.smallestCall(a, r)))
}

// overrunMargin returns the amount by which calls may exceed their reservations: a provider
// may write more than it was asked for.
func overrunMargin[T ~int64](aside T) T { return aside / 2 }

// smallestCall returns the smallest of the calls in flight on an account, including the given
// call.
func (l *MoneyLedger) smallestCall(a capSubject, r nexus.BudgetReserved) int64 {
	least := a.amountOfCall(r.Money, r.Tokens)
	for _, o := range l.open {
		if n := a.amountOfCall(o.Money, o.Tokens); n > 0 && a.countsCall(o) && (n < least || least == 0) {
			least = n
		}
	}
	return least
}

// countsCall reports whether a call counts against an account.
func (a capSubject) countsCall(r nexus.BudgetReserved) bool {
	switch a.limit {
	case ofTask:
		return string(r.Task) == a.of
	case ofRole:
		return string(r.Role) == a.of
	case ofProvider:
		return strings.HasPrefix(r.Model, a.of+"/") || r.Model == a.of
	default:
		return true
	}
}

// OthersSpent returns the last known spending of other runs on the day, and the day; an empty
// one is the day on which the run's process started.
func (l *MoneyLedger) OthersSpent() (day string, others nexus.Money) { return l.day, l.others }

// capsOfCall returns the accounts of a call.
func capsOfCall(r nexus.BudgetReserved) []capSubject {
	provider, _, _ := strings.Cut(r.Model, "/")
	return []capSubject{{ofTask, string(r.Task)}, {ofRole, string(r.Role)}, {ofProvider, provider}, {ofRun, ""}, {ofDay, ""}, {ofTokens, ""}}
}

// amountOfCall returns a call's amount on an account.
func (a capSubject) amountOfCall(m nexus.Money, tokens int64) int64 {
	if a.limit == ofTokens {
		return tokens
	}
	return int64(m)
}

// limitOf returns the cap of an account, or false if it has none.
func (l *MoneyLedger) limitOf(a capSubject, r nexus.BudgetReserved) (int64, bool) {
	m := nexus.Money(0)
	switch a.limit {
	case ofRun:
		return int64(l.limits.RunMoney), true
	case ofDay:
		m = l.limits.DayMoney
	case ofTask:
		if a.of != "" {
			m = l.limits.TaskMoney
		}
	case ofRole:
		m = l.limits.RoleMoney[nexus.Role(a.of)]
	case ofProvider:
		m = l.limits.ProviderMoney[a.of]
	case ofTokens:
		return l.limits.RunTokens, r.Tokens != 0
	}
	return int64(m), m > 0
}

// Check returns why a reservation would exceed a cap, or false if it fits. A negative amount
// never fits.
func (l *MoneyLedger) Check(r nexus.BudgetReserved) (nexus.BudgetRefused, bool) {
	return l.check(r, true)
}

// CheckSettled returns why a reservation would exceed a cap even if every call in flight cost
// nothing, or false if waiting may help.
func (l *MoneyLedger) CheckSettled(r nexus.BudgetReserved) (nexus.BudgetRefused, bool) {
	return l.check(r, false)
}

func (l *MoneyLedger) check(r nexus.BudgetReserved, flight bool) (nexus.BudgetRefused, bool) {
	for _, a := range capsOfCall(r) {
		limit, capped := l.limitOf(a, r)
		asked, spent := a.amountOfCall(r.Money, r.Tokens), l.usedAmount(a, flight)
		if !capped || asked >= 0 && asked <= limit-spent && (!flight || l.requiredMargin(a, r) <= limit-spent-asked) {
			continue
		}
		f := nexus.BudgetRefused{Task: r.Task, Cap: a.limit}
		if a.limit == ofRole || a.limit == ofProvider {
			f.Of = a.of
		}
		if a.limit == ofTokens {
			f.Tokens = &nexus.TokenLimit{Limit: limit, Spent: spent, Asked: asked}
			return f, true
		}
		f.Limit, f.Spent, f.Asked = nexus.Money(limit), nexus.Money(spent), nexus.Money(asked)
		return f, true
	}
	return nexus.BudgetRefused{}, false
}

// usedAmount returns the amount on an account, with or without the calls in flight.
func (l *MoneyLedger) usedAmount(a capSubject, flight bool) int64 {
	b := l.books[a]
	if a.limit == ofDay {
		b.spent = int64(l.today + l.others)
	}
	if flight {
		return b.spent + b.reserved
	}
	return b.spent
}

// requiredMargin returns the amount that must stay free on an account with one more call on it: the
// possible excess of the calls in flight over their reservations, without that of the
// smallest.
func (l *MoneyLedger) requiredMargin(a capSubject, r nexus.BudgetReserved) int64 {
	more := overrunMargin(l.books[a].reserved + a.amountOfCall(r.Money, r.Tokens))
	return more - min(more, l.smallestCall(a, r))
}

// Reserve reserves the worst case of a call. A second reservation with the same ID changes
// nothing.
func (l *MoneyLedger) Reserve(r nexus.BudgetReserved) {
	if _, ok := l.open[r.ID]; ok {
		return
	}
	if l.open == nil {
		l.open, l.books = map[string]nexus.BudgetReserved{}, map[capSubject]capBalance{}
	}
	l.open[r.ID] = r
	for _, a := range capsOfCall(r) {
		b := l.books[a]
		b.reserved += a.amountOfCall(r.Money, r.Tokens)
		l.books[a] = b
	}
}

// SettleCall replaces a reservation by the call's cost and returns it. An unknown or settled ID
// changes nothing and returns false, so that a call is never counted twice.
func (l *MoneyLedger) SettleCall(s nexus.BudgetSettled) (nexus.BudgetReserved, bool) {
	r, ok := l.open[s.ID]
	if !ok {
		return r, false
	}
	delete(l.open, s.ID)
	l.today += s.Money
	used := int64(0)
	if r.Tokens > 0 {
		used = s.Usage.TotalTokens()
	}
	for _, a := range capsOfCall(r) {
		b := l.books[a]
		b.reserved -= a.amountOfCall(r.Money, r.Tokens)
		b.spent += a.amountOfCall(s.Money, used)
		l.books[a] = b
	}
	return r, true
}

// ReservationByID returns the reservation with this ID.
func (l *MoneyLedger) ReservationByID(id string) (nexus.BudgetReserved, bool) {
	r, ok := l.open[id]
	return r, ok
}

// CallsInFlight returns the number of a role's calls in flight.
func (l *MoneyLedger) CallsInFlight(role nexus.Role) int {
	n := 0
	for _, r := range l.open {
		if r.Role == role {
			n++
		}
	}
	return n
}

// UnsettledIDs returns the IDs of the open reservations, sorted.
func (l *MoneyLedger) UnsettledIDs() []string { return slices.Sorted(maps.Keys(l.open)) }

// SpentMoney returns the settled amount.
func (l *MoneyLedger) SpentMoney() nexus.Money {
	return nexus.Money(l.books[capSubject{ofRun, ""}].spent)
}

// ReservedMoney returns the amount reserved for calls in flight.
func (l *MoneyLedger) ReservedMoney() nexus.Money {
	return nexus.Money(l.books[capSubject{ofRun, ""}].reserved)
}

// RunLimit returns the run's cap.
func (l *MoneyLedger) RunLimit() nexus.Money { return l.limits.RunMoney }

// SpendingPressure returns the highest of 0, 50, 75, 90 and 100 percent of the run's or the day's cap
// that settled spending has reached.
func (l *MoneyLedger) SpendingPressure() int {
	used := spentShare(l.SpentMoney(), l.limits.RunMoney)
	if l.limits.DayMoney > 0 {
		used = max(used, spentShare(l.today+l.others, l.limits.DayMoney))
	}
	for _, mark := range []int{100, 90, 75, 50} {
		if used >= float64(mark) {
			return mark
		}
	}
	return 0
}

func spentShare(spent, limit nexus.Money) float64 {
	if spent <= 0 {
		return 0
	}
	if limit <= 0 {
		return 100
	}
	return 100 * spent.Dollars() / limit.Dollars()
}
