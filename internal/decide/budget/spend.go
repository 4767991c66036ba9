package budget

import (
	"cmp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Spend is what something cost.
type Spend struct {
	Calls     int
	Money     nexus.Money
	Estimated nexus.Money // the part of it that no provider told
	Usage     nexus.Usage
}

// Spending is what a run cost, in the ways that people ask for it.
type Spending struct {
	By        map[Part]Spend
	Estimated nexus.Money // the part that no provider told
}

// Part is one value of one of the ways to take a run's cost apart.
type Part struct {
	Way  Way
	Name string
}

// MarshalText names the part where it is a key.
func (p Part) MarshalText() ([]byte, error) { return []byte(string(p.Way) + " " + p.Name), nil }

// Way is a way to take a run's cost apart.
type Way string

// The ways.
const (
	ByTask     Way = "task"
	ByAttempt  Way = "attempt" // derived: see [Spending.Of]
	BySession  Way = "session"
	ByRole     Way = "role"
	ByProvider Way = "provider"
	ByModel    Way = "model"
	ByTier     Way = "tier"
	ByPurpose  Way = "purpose"
)

// Ways returns all ways in the order in which they are shown.
func Ways() []Way {
	return []Way{ByTask, ByAttempt, BySession, ByRole, ByPurpose, ByTier, ByModel, ByProvider}
}

// Add books what a call cost on each of its parts. A part without a name
// counts as none.
func (p *Spending) Add(f nexus.BudgetSpent, parts ...Part) {
	if p.By == nil {
		p.By = map[Part]Spend{}
	}
	for _, part := range parts {
		part.Name = cmp.Or(part.Name, "none")
		p.By[part] = p.By[part].plus(f)
	}
	if f.Estimated {
		p.Estimated += f.Money
	}
}

// Of returns what each part of one way cost. That of an attempt is the sum of its
// sessions, whose names begin with its own.
func (p Spending) Of(way Way) map[string]Spend {
	from := way
	if way == ByAttempt {
		from = BySession
	}
	all := map[string]Spend{}
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

func (s Spend) and(o Spend) Spend {
	return Spend{Calls: s.Calls + o.Calls, Money: s.Money + o.Money, Estimated: s.Estimated + o.Estimated, Usage: s.Usage.Add(o.Usage)}
}

func (s Spend) plus(f nexus.BudgetSpent) Spend {
	s.Calls++
	s.Money += f.Money
	s.Usage = s.Usage.Add(f.Usage)
	if f.Estimated {
		s.Estimated += f.Money
	}
	return s
}
