package budget

import (
	"cmp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// CostTotal is what something cost.
type CostTotal struct {
	Calls     int
	Money     nexus.Money
	Estimated nexus.Money // the part of it that no provider told
	Usage     nexus.Usage
}

// Spending is what a run cost, in the ways that people ask for it.
type Spending struct {
	By        map[BreakdownKey]CostTotal
	Estimated nexus.Money // the part that no provider told
}

// BreakdownKey is one value of one of the ways to take a run's cost apart.
type BreakdownKey struct {
	Way  Breakdown
	Name string
}

// MarshalText names the part where it is a key.
func (p BreakdownKey) MarshalText() ([]byte, error) { return []byte(string(p.Way) + " " + p.Name), nil }

// Breakdown is a way to take a run's cost apart.
type Breakdown string

// The ways.
const (
	ByTask     Breakdown = "task"
	ByAttempt  Breakdown = "attempt" // derived: see [Spending.CostBy]
	BySession  Breakdown = "session"
	ByRole     Breakdown = "role"
	ByProvider Breakdown = "provider"
	ByModel    Breakdown = "model"
	ByTier     Breakdown = "tier"
	ByPurpose  Breakdown = "purpose"
)

// Breakdowns returns all ways in the order in which they are shown.
func Breakdowns() []Breakdown {
	return []Breakdown{ByTask, ByAttempt, BySession, ByRole, ByPurpose, ByTier, ByModel, ByProvider}
}

// Add books what a call cost on each of its parts. A part without a name
// counts as none.
func (p *Spending) Add(f nexus.BudgetSpent, parts ...BreakdownKey) {
	if p.By == nil {
		p.By = map[BreakdownKey]CostTotal{}
	}
	for _, part := range parts {
		part.Name = cmp.Or(part.Name, "none")
		p.By[part] = p.By[part].plus(f)
	}
	if f.Estimated {
		p.Estimated += f.Money
	}
}

// CostBy returns what each part of one way cost. That of an attempt is the sum of its
// sessions, whose names begin with its own.
func (p Spending) CostBy(way Breakdown) map[string]CostTotal {
	from := way
	if way == ByAttempt {
		from = BySession
	}
	all := map[string]CostTotal{}
	for part, cost := range p.By {
		if part.Way != from {
			continue
		}
		name := part.Name
		if way == ByAttempt {
			name, _, _ = strings.Cut(name, "/")
		}
		all[name] = all[name].and(cost)
	}
	return all
}

func (s CostTotal) and(o CostTotal) CostTotal {
	return CostTotal{Calls: s.Calls + o.Calls, Money: s.Money + o.Money, Estimated: s.Estimated + o.Estimated, Usage: s.Usage.Add(o.Usage)}
}

func (s CostTotal) plus(f nexus.BudgetSpent) CostTotal {
	s.Calls++
	s.Money += f.Money
	s.Usage = s.Usage.Add(f.Usage)
	if f.Estimated {
		s.Estimated += f.Money
	}
	return s
}
