package route

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/taskgraph"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Minimum and maximum number of simulations, and the maximum number of simulated tasks in
// total. More tasks need fewer simulations.
const (
	fewPlays  = 40
	mostPlays = 100
	allPlayed = 20_000
)

// runSimulation simulates the rest of a run many times with different task durations. The
// durations come from a fixed sequence and are not random: the same state gives the same
// result.
type runSimulation struct {
	tasks    []*simulatedTask
	parallel int
	lag      time.Duration        // time until accepted work has landed
	graph    *taskgraph.TaskGraph // defines the tasks that conflict
}

// simulatedTask is a task that has not landed.
type simulatedTask struct {
	task     *state.TaskState
	took     remainingTimeDistribution
	boards   bool // it is accepted
	underway bool
	rank     int
	urgency  int
	left     time.Duration // in this simulation
	at       time.Duration // time of its landing in this simulation; -1: not begun
}

// remainingTime returns the range of the simulated ends, without one in twelve on each side. That
// is a little more than eight in ten, because the simulations contain no failures.
func (r *runSimulation) remainingTime() RemainingTime {
	plays := min(mostPlays, max(fewPlays, allPlayed/len(r.tasks)))
	first := func(p *simulatedTask) int {
		if p.underway || p.boards {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(r.tasks, func(a, b *simulatedTask) int { // in the order in which they begin
		return cmp.Or(cmp.Compare(first(a), first(b)), cmp.Compare(b.urgency, a.urgency), cmp.Compare(b.rank, a.rank))
	})
	ends := make([]time.Duration, plays)
	for k := range ends {
		shift := normalQuantile((float64(k) + 0.5) / float64(plays))
		for i, p := range r.tasks {
			p.left = 0
			if !p.boards {
				own := math.Sqrt(max(0.0025, p.took.wide*p.took.wide-p.took.shared*p.took.shared))
				p.left = p.took.shiftedRemainingAt(quasiRandom(k, i), shift*p.took.shared, own)
			}
		}
		ends[k] = r.simulateOnce()
	}
	slices.Sort(ends)
	return RemainingTime{ends[plays/12], ends[plays-1-plays/12]}
}

// simulateOnce returns the time of the last landing. Tasks begin as the scheduler starts
// them.
func (r *runSimulation) simulateOnce() time.Duration {
	at := map[nexus.TaskID]*simulatedTask{}
	for _, p := range r.tasks {
		p.at = -1
		at[p.task.ID] = p
	}
	now, last := time.Duration(0), time.Duration(0)
	wait := slices.Clone(r.tasks)
	var flying []*simulatedTask // tasks that have begun and not landed
	for len(wait) > 0 {
		wait, flying = r.beginTasks(wait, flying, at, now)
		for _, p := range flying {
			last = max(last, p.at)
		}
		next, ok := r.nextEventTime(flying, now)
		if !ok {
			return last // the remaining tasks never begin
		}
		now = next
		flying = slices.DeleteFunc(flying, func(p *simulatedTask) bool { return p.at <= now })
	}
	return last
}

// beginTasks starts tasks while slots are free, and returns the waiting and the started ones.
func (r *runSimulation) beginTasks(wait, flying []*simulatedTask, at map[nexus.TaskID]*simulatedTask, now time.Duration) (kept, begun []*simulatedTask) {
	busy := 0
	for _, p := range flying {
		if p.at-r.lag > now {
			busy++
		}
	}
	kept = wait[:0]
	for i, p := range wait {
		if busy >= r.parallel {
			return append(kept, wait[i:]...), flying
		}
		if !areNeedsLanded(p, at, now) || r.conflictsWithRunning(p, flying) {
			kept = append(kept, p)
			continue
		}
		p.at = now + p.left + r.lag
		if flying = append(flying, p); p.left > 0 {
			busy++
		}
	}
	return kept, flying
}

// nextEventTime returns the time of the next event: work ends or lands.
func (r *runSimulation) nextEventTime(flying []*simulatedTask, now time.Duration) (at time.Duration, ok bool) {
	for _, p := range flying {
		for _, t := range []time.Duration{p.at - r.lag, p.at} {
			if t > now && (!ok || t < at) {
				at, ok = t, true
			}
		}
	}
	return at, ok
}

func (r *runSimulation) conflictsWithRunning(p *simulatedTask, flying []*simulatedTask) bool {
	return r.graph != nil && slices.ContainsFunc(flying, func(o *simulatedTask) bool { return r.graph.HasConflict(p.task.ID, o.task.ID) })
}

// areNeedsLanded reports whether the tasks that a task needs or wants have landed by now.
func areNeedsLanded(p *simulatedTask, at map[nexus.TaskID]*simulatedTask, now time.Duration) bool {
	for _, id := range p.task.Prerequisites() {
		if n := at[id]; n != nil && (n.at < 0 || n.at > now) {
			return false
		}
	}
	return true
}

// quasiRandom returns the i-th value of the k-th simulation: between 0 and 1, evenly distributed,
// and always the same.
func quasiRandom(k, i int) float64 {
	x := uint64(k+1)*0x9e3779b97f4a7c15 + uint64(i+1)*0xbf58476d1ce4e5b9 //nolint:gosec // neither is below 0
	x ^= x >> 30
	x *= 0xbf58476d1ce4e5b9
	x ^= x >> 27
	x *= 0x94d049bb133111eb
	x ^= x >> 31
	return (float64(x>>11) + 0.5) / (1 << 53)
}
