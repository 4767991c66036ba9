package route

import (
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// PastRunStatistics are the results of earlier runs. The zero value is empty.
type PastRunStatistics struct {
	landed []landedTask               // in the order in which they were added
	rests  []time.Duration            // time from the last landing to the end of each run
	lags   []time.Duration            // time from acceptance to landing
	gates  map[string][]time.Duration // median duration in each run, by gate
}

// landedTask is a task that landed.
type landedTask struct {
	run   nexus.RunID
	id    nexus.TaskID
	stack string
	tier  nexus.Tier    // starting tier
	thumb time.Duration // time by the rule of thumb
	time  time.Duration
	money nexus.Money
}

// AddRun adds a run.
func (h *PastRunStatistics) AddRun(s *state.State) {
	if h.gates == nil {
		h.gates = map[string][]time.Duration{}
	}
	for _, gate := range s.TimedGates() {
		h.gates[gate] = append(h.gates[gate], medianDuration(s.GateDurations(gate)))
	}
	for _, t := range s.Tasks {
		if t.Landed != nil {
			h.addLandedTask(s.Run, t)
		}
	}
	for _, l := range s.Landings {
		if a := s.AttemptByID(l.Attempt); a != nil && !a.Finished.IsZero() {
			h.lags = append(h.lags, l.At.Sub(a.Finished))
		}
	}
	if n := len(s.Landings); n > 0 && s.Status == nexus.StatusDone {
		h.rests = append(h.rests, max(0, s.Ended.Sub(s.Landings[n-1].At)))
	}
}

// addLandedTask adds a landed task.
func (h *PastRunStatistics) addLandedTask(run nexus.RunID, t *state.TaskState) {
	c, tier := complexityAndStartTier(t)
	files := t.Files
	if len(files) == 0 {
		files = t.Landed.Changes.Files
	}
	h.landed = append(h.landed, landedTask{run, t.ID, stack.MainStack(files), tier, ruleOfThumbTime(t.Task, c), t.Worked, t.Spent})
}

// complexityAndStartTier returns the estimated complexity of a task, and its starting tier.
func complexityAndStartTier(t *state.TaskState) (nexus.Complexity, nexus.Tier) {
	if t.Route != nil {
		return t.Route.Complexity, t.Route.Tier
	}
	return nexus.Simple, t.Task.Tier
}
