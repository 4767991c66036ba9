package audit

import (
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// CapExcess is the amount by which calls exceeded a cap: the provider's charge beyond it, and the
// reservation of the call that exceeded it.
type CapExcess struct {
	Cap      string
	Money    nexus.Money
	Reserved nexus.Money
}

// InCalls returns the excess in units of the reserved call.
func (o CapExcess) InCalls() float64 {
	if o.Money <= 0 || o.Reserved <= 0 {
		return 0
	}
	return float64(o.Money) / float64(o.Reserved)
}

// DayCharges holds the charges of the runs that share a day, and their calls under way.
type DayCharges struct {
	charged map[string]nexus.Money
	open    map[string]nexus.BudgetReserved
	cap     nexus.Money
}

// ChargeMeter compares the provider's charges for a run with each of its caps. It uses the provider's
// figures and not the ledger's.
type ChargeMeter struct {
	run     string
	days    *DayCharges
	limits  nexus.Limits // the highest that were in force
	asked   map[string]string
	charged map[spendingCapKey]nexus.Money
	Worst   map[string]CapExcess // by cap
}

type spendingCapKey struct{ name, of string }

// NewChargeMeter returns the meter of a run that shares its days with others.
func NewChargeMeter(run string, days *DayCharges) *ChargeMeter {
	if days.charged == nil {
		days.charged, days.open = map[string]nexus.Money{}, map[string]nexus.BudgetReserved{}
	}
	return &ChargeMeter{run: run, days: days, asked: map[string]string{}, charged: map[spendingCapKey]nexus.Money{}, Worst: map[string]CapExcess{}}
}

// RecordEvent receives a recorded event.
func (m *ChargeMeter) RecordEvent(e nexus.Event) {
	switch f := e.Fact.(type) {
	case nexus.GoalAccepted:
		m.raiseLimits(f.Limits)
	case nexus.RunRecovered:
		if f.Limits != nil {
			m.raiseLimits(*f.Limits)
		}
	case nexus.BudgetReserved:
		m.asked[f.ID] = e.At.UTC().Format("2006-01-02")
		m.days.open[m.run+f.ID] = f
	case nexus.BudgetSettled:
		delete(m.days.open, m.run+f.ID)
	default:
	}
}

// raiseLimits sets the caps that apply from now on. People only ever raise them.
func (m *ChargeMeter) raiseLimits(l nexus.Limits) {
	run := max(m.limits.RunMoney, l.RunMoney)
	m.limits = l
	m.limits.RunMoney = run
	m.days.cap = max(m.days.cap, l.DayMoney)
}

// RecordCharge receives the provider's charge for a call.
func (m *ChargeMeter) RecordCharge(r nexus.BudgetReserved, money nexus.Money) {
	provider, _, _ := strings.Cut(r.Model, "/")
	for c, limit := range map[spendingCapKey]nexus.Money{
		{"run", ""}:              m.limits.RunMoney,
		{"task", string(r.Task)}: m.limits.TaskMoney,
		{"role", string(r.Role)}: m.limits.RoleMoney[r.Role],
		{"provider", provider}:   m.limits.ProviderMoney[provider],
	} {
		m.charged[c] += money
		if limit > 0 && (c.name != "task" || c.of != "") {
			m.storeLargestExcess(CapExcess{c.name, m.charged[c] - limit, r.Money})
		}
	}
	day := m.asked[r.ID]
	m.days.charged[day] += money
	if m.days.cap > 0 {
		largest := r.Money
		for _, o := range m.days.open {
			largest = max(largest, o.Money)
		}
		m.storeLargestExcess(CapExcess{"day", m.days.charged[day] - m.days.cap, largest})
	}
}

// storeLargestExcess stores the largest excess of each cap, and also that it was never exceeded.
func (m *ChargeMeter) storeLargestExcess(o CapExcess) {
	if was, ok := m.Worst[o.Cap]; !ok || o.InCalls() > was.InCalls() {
		m.Worst[o.Cap] = o
	}
}
