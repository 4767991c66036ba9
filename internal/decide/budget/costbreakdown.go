package budget

import (
	"cmp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// CostTotal is the total cost of something.
type CostTotal struct {
	Calls     int
	Money     nexus.Money
	Estimated nexus.Money // the part that no provider reported
	Usage     nexus.Usage
}

// RunCostBreakdown is the cost of a run, broken down in several ways.
type RunCostBreakdown struct {
	By        map[CostBreakdownKey]CostTotal
	Estimated nexus.Money // the part that no provider reported
}

// CostBreakdownKey is one value of a breakdown, such as one model.
type CostBreakdownKey struct {
	Way  CostDimension
	Name string
}

// MarshalText encodes the key as a map key.
func (p CostBreakdownKey) MarshalText() ([]byte, error) {
	return []byte(string(p.Way) + " " + p.Name), nil
}

// CostDimension is a way to break down a run's cost.
type CostDimension string

// Values of Breakdown.
const (
	ByTask     CostDimension = "task"
	ByAttempt  CostDimension = "attempt" // computed: see [RunCostBreakdown.CostBy]
	BySession  CostDimension = "session"
	ByRole     CostDimension = "role"
	ByProvider CostDimension = "provider"
	ByModel    CostDimension = "model"
	ByTier     CostDimension = "tier"
	ByPurpose  CostDimension = "purpose"
)

// CostDimensions returns all breakdowns in display order.
func CostDimensions() []CostDimension {
	return []CostDimension{ByTask, ByAttempt, BySession, ByRole, ByPurpose, ByTier, ByModel, ByProvider}
}

// Add adds a call's cost to each of its parts. A part without a name counts
// as "none".
func (p *RunCostBreakdown) Add(f nexus.BudgetSettled, parts ...CostBreakdownKey) {
	if p.By == nil {
		p.By = map[CostBreakdownKey]CostTotal{}
	}
	for _, part := range parts {
		part.Name = cmp.Or(part.Name, "none")
		p.By[part] = p.By[part].addCall(f)
	}
	if f.Estimated {
		p.Estimated += f.Money
	}
}

// CostBy returns the cost of each part of a breakdown. An attempt's cost is the sum of its
// sessions, whose names start with its name.
func (p RunCostBreakdown) CostBy(way CostDimension) map[string]CostTotal {
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
		all[name] = all[name].sumWith(cost)
	}
	return all
}

// Total returns the cost of the run.
func (p RunCostBreakdown) Total() CostTotal {
	var sum CostTotal
	for _, cost := range p.CostBy(ByRole) {
		sum = sum.sumWith(cost)
	}
	return sum
}

func (s CostTotal) sumWith(o CostTotal) CostTotal {
	return CostTotal{Calls: s.Calls + o.Calls, Money: s.Money + o.Money, Estimated: s.Estimated + o.Estimated, Usage: s.Usage.Add(o.Usage)}
}

func (s CostTotal) addCall(f nexus.BudgetSettled) CostTotal {
	s.Calls++
	s.Money += f.Money
	s.Usage = s.Usage.Add(f.Usage)
	if f.Estimated {
		s.Estimated += f.Money
	}
	return s
}
