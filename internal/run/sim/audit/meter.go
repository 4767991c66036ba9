package audit

import (
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Over is the amount by which calls exceeded a cap: the provider's charge beyond it, and the
// reservation of the call that exceeded it.
type Over struct {
	Cap      string
	Money    nexus.Money
	Reserved nexus.Money
}

// Calls returns the excess in units of the reserved call.
func (o Over) Calls() float64 {
	if o.Money <= 0 || o.Reserved <= 0 {
		return 0
	}
	return float64(o.Money) / float64(o.Reserved)
}

// Days holds the charges of the runs that share a day, and their calls under way.
type Days struct {
	charged map[string]nexus.Money
	open    map[string]nexus.BudgetReserved
	cap     nexus.Money
}

// Meter compares the provider's charges for a run with each of its caps. It uses the provider's
// figures and not the ledger's.
type Meter struct {
	run     string
	days    *Days
	limits  nexus.Limits // the highest that were in force
	asked   map[string]string
	charged map[cap]nexus.Money
	Worst   map[string]Over // by cap
}

type cap struct{ name, of string }

// NewMeter returns the meter of a run that shares its days with others.
func NewMeter(run string, days *Days) *Meter {
	if days.charged == nil {
		days.charged, days.open = map[string]nexus.Money{}, map[string]nexus.BudgetReserved{}
	}
	return &Meter{run: run, days: days, asked: map[string]string{}, charged: map[cap]nexus.Money{}, Worst: map[string]Over{}}
}

// Event receives a recorded event.
func (m *Meter) Event(e nexus.Event) {
	switch f := e.Fact.(type) {
	case nexus.GoalAccepted:
		m.allow(f.Limits)
	case nexus.RunRecovered:
		if f.Limits != nil {
			m.allow(*f.Limits)
		}
	case nexus.BudgetReserved:
		m.asked[f.ID] = e.At.UTC().Format("2006-01-02")
		m.days.open[m.run+f.ID] = f
	case nexus.BudgetSpent:
		delete(m.days.open, m.run+f.ID)
	default:
	}
}

// allow sets the caps that apply from now on. People only ever raise them.
func (m *Meter) allow(l nexus.Limits) {
	run := max(m.limits.RunMoney, l.RunMoney)
	m.limits = l
	m.limits.RunMoney = run
	m.days.cap = max(m.days.cap, l.DayMoney)
}

// Charge receives the provider's charge for a call.
func (m *Meter) Charge(r nexus.BudgetReserved, money nexus.Money) {
	provider, _, _ := strings.Cut(r.Model, "/")
	for c, limit := range map[cap]nexus.Money{
		{"run", ""}:              m.limits.RunMoney,
		{"task", string(r.Task)}: m.limits.TaskMoney,
		{"role", string(r.Role)}: m.limits.RoleMoney[r.Role],
		{"provider", provider}:   m.limits.ProviderMoney[provider],
	} {
		m.charged[c] += money
		if limit > 0 && (c.name != "task" || c.of != "") {
			m.note(Over{c.name, m.charged[c] - limit, r.Money})
		}
	}
	day := m.asked[r.ID]
	m.days.charged[day] += money
	if m.days.cap > 0 {
		largest := r.Money
		for _, o := range m.days.open {
			largest = max(largest, o.Money)
		}
		m.note(Over{"day", m.days.charged[day] - m.days.cap, largest})
	}
}

// note stores the largest excess of each cap, and also that it was never exceeded.
func (m *Meter) note(o Over) {
	if was, ok := m.Worst[o.Cap]; !ok || o.Calls() > was.Calls() {
		m.Worst[o.Cap] = o
	}
}
