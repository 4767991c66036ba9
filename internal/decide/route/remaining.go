package route

import (
	"math"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// RemainingTime is the range of a remaining time: one case in ten is below it, and one in ten
// above. The zero value is unknown.
type RemainingTime struct {
	Low, High time.Duration
}

// UsualGateTime returns the median duration of a gate in this run, or in earlier runs if it did not
// run in this one. 0 is unknown.
func (h *PastRunStatistics) UsualGateTime(s *state.State, gate string) time.Duration {
	if own := medianDuration(s.GateDurations(gate)); own > 0 || h == nil {
		return own
	}
	return medianDuration(h.gates[gate])
}

// medianDuration returns the median, or 0 for an empty list.
func medianDuration(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	all = slices.Sorted(slices.Values(all))
	return all[len(all)/2]
}

// RemainingTimes returns the remaining time of a run and of its tasks in progress, based on
// tasks that landed in it and before it. If these are too few, the times are unknown. The
// run's range is the middle of many simulated ends: one in ten is earlier, and one in ten
// later. See [runSimulation].
func (h *PastRunStatistics) RemainingTimes(s *state.State, now time.Time) (run RemainingTime, tasks map[nexus.TaskID]RemainingTime) {
	tasks = map[nexus.TaskID]RemainingTime{}
	known := h.withRun(s)
	if len(known.landed) < enough {
		return run, tasks
	}
	x := &nexus.EstimateBasis{Paces: known.EstimateCalibrations()}
	r := runSimulation{parallel: max(s.Limits.Parallel, 1), lag: medianDuration(known.lags), graph: s.Graph}
	for _, t := range s.Tasks {
		status := s.StatusOf(t)
		if status.HasEnded() || status == nexus.Blocked {
			continue
		}
		next := &simulatedTask{task: t, boards: status == nexus.Boarding, underway: t.IsUnderway(), rank: s.Rank(t.ID), urgency: s.TaskUrgency(t.ID)}
		next.took = timeDistributionOf(x, t, s.TaskWorkTime(t, now))
		if r.tasks = append(r.tasks, next); next.took.gone > 0 && !next.boards {
			tasks[t.ID] = RemainingTime{next.took.remainingAt(0.1), next.took.remainingAt(0.9)}
		}
	}
	if len(r.tasks) > 0 && s.Status == nexus.StatusExecuting && s.Planned {
		run = r.remainingTime()
		rest := medianDuration(known.rests)
		run.Low, run.High = run.Low+rest, run.High+rest
	}
	return run, tasks
}

// withRun returns the statistics with a run that has not ended.
func (h *PastRunStatistics) withRun(s *state.State) *PastRunStatistics {
	var all PastRunStatistics
	all.AddRun(s)
	if h != nil {
		all.landed, all.lags, all.rests = slices.Concat(h.landed, all.landed), slices.Concat(h.lags, all.lags), slices.Concat(h.rests, all.rests)
	}
	return &all
}

// remainingTimeDistribution is the distribution of a task's remaining time: the total time is
// log-normal, and not shorter than the elapsed time.
type remainingTimeDistribution struct {
	middle, wide float64 // of the logarithm of seconds
	shared       float64 // the part of wide that is an error of the estimate, which all tasks share
	gone         time.Duration
}

// timeDistributionOf returns the distribution for a task with some time of work.
func timeDistributionOf(x *nexus.EstimateBasis, t *state.TaskState, gone time.Duration) remainingTimeDistribution {
	c, tier := complexityAndStartTier(t)
	e := EstimateTask(x, t.Task, c, tier)
	d := remainingTimeDistribution{middle: math.Log(float64(max(1, e.Likely.Seconds))), gone: gone}
	if p, ok := paceOfSimilarTasks(x, stack.MainStack(t.Files), tier); ok {
		d.setFromPace(float64(ruleOfThumbTime(t.Task, c))/float64(time.Second), p)
	} else {
		d.wide = math.Log(wrong) / tenth
	}
	d.shared = d.wide / math.Sqrt(float64(e.Samples+1))
	return d
}

// setFromPace computes the same as [EstimateTask], without rounding to seconds.
func (d *remainingTimeDistribution) setFromPace(thumb float64, p nexus.EstimateCalibration) {
	at := func(rule float64, past int64) float64 {
		return math.Log(thumb * blendEstimates(rule, float64(past)/1000, p.Tasks))
	}
	d.middle = at(1, p.Time.Likely)
	d.wide = max(0.05, (at(wrong, p.Time.High)-at(1.0/wrong, p.Time.Low))/2/tenth)
}

// remainingAt returns the remaining time that is not exceeded in a share of all cases.
func (d remainingTimeDistribution) remainingAt(share float64) time.Duration {
	return d.shiftedRemainingAt(share, 0, d.wide)
}

// shiftedRemainingAt returns the same with another mean and spread.
func (d remainingTimeDistribution) shiftedRemainingAt(share, shift, wide float64) time.Duration {
	sure := 0.0 // the share of cases that are already excluded
	if d.gone > 0 {
		sure = min(0.99, normalShareBelow((math.Log(d.gone.Seconds())-d.middle-shift)/wide))
	}
	took := math.Exp(d.middle + shift + wide*normalQuantile(sure+share*(1-sure)))
	left := time.Duration(took*float64(time.Second)) - d.gone
	return max(left, time.Duration(0.05*float64(d.gone)*share), 0)
}

// normalShareBelow returns the share of normal values below z.
func normalShareBelow(z float64) float64 { return 0.5 * math.Erfc(-z/math.Sqrt2) }

// normalQuantile returns the normal value that is above a share of all values.
func normalQuantile(share float64) float64 { return math.Sqrt2 * math.Erfinv(2*share-1) }
