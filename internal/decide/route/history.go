package route

import (
	"cmp"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Stats is the result of earlier runs. The zero Stats knows of none.
type Stats struct {
	past  map[pastKind]nexus.Past
	tasks map[nexus.Complexity][]ended
	gates map[string][]time.Duration // how long each took: the median of each run
}

// pastKind is what tries are told apart by.
type pastKind struct {
	complexity nexus.Complexity
	tier       nexus.Tier
}

// ended is a task that landed.
type ended struct {
	money nexus.Money
	time  time.Duration
}

// Add adds a run. Attempts that the machinery failed, that somebody stopped
// or that a budget ended say nothing of the tier, and do not count.
func (h *Stats) Add(s *state.State) {
	if h.past == nil {
		h.past, h.tasks, h.gates = map[pastKind]nexus.Past{}, map[nexus.Complexity][]ended{}, map[string][]time.Duration{}
	}
	for _, gate := range s.Paced() {
		h.gates[gate] = append(h.gates[gate], median(s.Pace(gate)))
	}
	for _, t := range s.Tasks {
		c := nexus.Simple
		if t.Route != nil {
			c = t.Route.Complexity
		}
		for _, a := range t.Attempts {
			h.try(c, a)
		}
		if t.Landed != nil {
			h.tasks[c] = append(h.tasks[c], ended{t.Spent, t.Worked})
		}
	}
}

func (h *Stats) try(c nexus.Complexity, a *state.Attempt) {
	if a.Stage != state.Over || a.Broken {
		return
	}
	failed := false
	switch a.Outcome {
	case nexus.Accepted, nexus.Conflicted:
	case nexus.GaveUp, nexus.Exhausted, nexus.NoProgress:
		failed = true
	default:
		return
	}
	k := pastKind{c, a.Tier}
	p := h.past[k]
	p.Complexity, p.Tier = c, a.Tier
	p.Tries++
	if failed {
		p.Failed++
	}
	for _, s := range a.Sessions {
		p.Money += s.Spent
	}
	h.past[k] = p
}

// Past returns the tries by complexity and tier, in a fixed order.
func (h *Stats) Past() []nexus.Past {
	all := make([]nexus.Past, 0, len(h.past))
	for _, p := range h.past {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b nexus.Past) int {
		return cmp.Or(cmp.Compare(a.Complexity, b.Complexity), cmp.Compare(a.Tier, b.Tier))
	})
	return all
}
