package route

import (
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// beyond is how many earlier tasks must have taken longer than one has, for
// them to say how long it will still take.
const beyond = 2

// Remaining is how long something will still take: one in ten earlier tasks took
// less, and one in ten took more. The zero value is unknown.
type Remaining struct {
	Low, High time.Duration
}

// Usual returns how long a gate takes: the median of this run, or that of
// earlier runs where it did not run in this one. 0 is unknown.
func (h *Stats) Usual(s *state.State, gate string) time.Duration {
	if own := median(s.Pace(gate)); own > 0 || h == nil {
		return own
	}
	return median(h.gates[gate])
}

// median returns the middle value, 0 of none.
func median(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	all = slices.Sorted(slices.Values(all))
	return all[len(all)/2]
}

// Left returns how long a run and the tasks under way will still take, by what
// the tasks took that landed in it and before it. A task for which there are
// too few, or that has taken longer than they did, is not in it; then the run's
// is unknown too.
func (h *Stats) Left(s *state.State, now time.Time) (run Remaining, tasks map[nexus.TaskID]Remaining) {
	var own Stats
	own.Add(s)
	if h == nil {
		h = &Stats{}
	}
	tasks = map[nexus.TaskID]Remaining{}
	spans, known := map[nexus.TaskID]Remaining{}, s.Planned
	var work Remaining
	var all []nexus.Task
	for _, t := range s.Tasks {
		all = append(all, t.Task)
		status := s.StatusOf(t)
		if status.Ended() || status == nexus.Blocked || status == nexus.Boarding {
			continue
		}
		worked := s.WorkedOn(t, now)
		left, ok := h.rest(&own, t, worked)
		known = known && ok
		if !ok {
			continue
		}
		spans[t.ID] = left
		work.Low, work.High = work.Low+left.Low, work.High+left.High
		if worked > 0 {
			tasks[t.ID] = left
		}
	}
	if !known || len(spans) == 0 || s.Status != nexus.StatusExecuting {
		return Remaining{}, tasks
	}
	side := time.Duration(max(s.Limits.Parallel, 1))
	run.Low = max(longest(all, func(t nexus.Task) time.Duration { return spans[t.ID].Low }), work.Low/side)
	run.High = max(longest(all, func(t nexus.Task) time.Duration { return spans[t.ID].High }), work.High/side)
	return run, tasks
}

// rest returns how long a task will still take that was worked on so long.
func (h *Stats) rest(own *Stats, t *state.Task, worked time.Duration) (Remaining, bool) {
	c := nexus.Simple
	if t.Route != nil {
		c = t.Route.Complexity
	}
	past := slices.Concat(h.tasks[c], own.tasks[c])
	if len(past) < enough {
		past = slices.Concat(h.all(), own.all())
	}
	if len(past) < enough {
		return Remaining{}, false
	}
	past = slices.DeleteFunc(past, func(e ended) bool { return e.time <= worked })
	if len(past) < beyond {
		return Remaining{}, false
	}
	took := spread(past, func(e ended) time.Duration { return e.time })
	return Remaining{took[0] - worked, took[2] - worked}, true
}
