package state

import (
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// RunningGate is a gate that is judging.
type RunningGate struct {
	nexus.GateStarted
	At time.Time
}

// isSameWork reports whether two gates judge for the same attempt or landing: one replaces the
// other.
func (u RunningGate) isSameWork(o nexus.GateStarted) bool {
	return u.Attempt == o.Attempt && u.Task == o.Task
}

// paced is the number of a gate's last judgements whose durations are stored.
const paced = 9

// trackGates records the running gates and their durations. A fact that a worker records only when
// no gate runs for it ends a gate that was interrupted.
func (s *State) trackGates(f nexus.Fact, at time.Time) {
	switch f := f.(type) {
	case nexus.GateStarted:
		s.removeGates(func(u RunningGate) bool { return u.isSameWork(f) })
		s.Gating = append(s.Gating, RunningGate{f, at})
	case nexus.GateJudged:
		took := f.Evidence.Duration
		s.removeGates(func(u RunningGate) bool {
			done := u.Gate == f.Evidence.Gate && u.Base == f.Base && (u.Base || u.Attempt == f.Attempt && u.Task == f.Task)
			if done {
				took = at.Sub(u.At)
			}
			return done
		})
		if f.WarmUp > 0 {
			s.recordGateDuration(nexus.WarmUpGate, f.WarmUp)
		}
		if ran := f.Evidence.State == nexus.Pass || f.Evidence.State == nexus.Fail; ran && !f.Cached && took > 0 {
			s.recordGateDuration(f.Evidence.Gate, took)
		}
	case nexus.LandingCompleted:
		s.removeGates(func(u RunningGate) bool { return u.Task == f.Task && u.Attempt == "" })
	case nexus.LandingRejected:
		s.removeGates(func(u RunningGate) bool { return u.Task == f.Task && u.Attempt == "" })
	case nexus.FinalGatesJudged:
		s.removeGates(func(u RunningGate) bool { return u.Task == "" && u.Attempt == "" })
	case nexus.RunRecovered, nexus.RunEnded:
		s.Gating = nil
	default:
		if id := attemptWithoutGate(f); id != "" {
			s.removeGates(func(u RunningGate) bool { return u.Attempt == id || u.Attempt == "" && s.isLandingAttempt(id, u.Task) })
		}
	}
}

// recordGateDuration stores a gate's duration.
func (s *State) recordGateDuration(gate string, took time.Duration) {
	all := append(s.pace[gate], took)
	s.pace[gate] = all[max(0, len(all)-paced):]
}

// isLandingAttempt reports whether an attempt is the merger's, for the landing of a task.
func (s *State) isLandingAttempt(id nexus.AttemptID, task nexus.TaskID) bool {
	return s.CurrentLanding != nil && s.CurrentLanding.Merge.ID == id && s.CurrentLanding.Task == task
}

// removeGates removes gates.
func (s *State) removeGates(which func(RunningGate) bool) {
	s.Gating = slices.DeleteFunc(s.Gating, which)
}

// attemptWithoutGate returns the attempt for which no gate runs any more once a fact is
// recorded, or "" for other facts.
func attemptWithoutGate(f nexus.Fact) nexus.AttemptID {
	switch f := f.(type) {
	case nexus.AttemptLost:
		return f.Attempt
	case nexus.AttemptInfrastructureFailed:
		return f.Attempt
	case nexus.AttemptEnded:
		return f.Attempt
	case nexus.RoundStarted:
		return f.Attempt
	case nexus.SessionStarted:
		return f.Attempt
	case nexus.GatesVerdictGiven:
		return f.Attempt
	case nexus.TestsRunWithoutWork:
		return f.Attempt
	case nexus.CriterionTestsFound:
		return f.Attempt
	case nexus.IndependentChecksRun:
		return f.Attempt
	case nexus.CriterionFaultsFound:
		return f.Attempt
	default:
		return ""
	}
}

// GateDurations returns the durations of a gate's last judgements in this run, from start to
// recorded evidence. It is empty if the gate ran on no tree.
func (s *State) GateDurations(gate string) []time.Duration { return s.pace[gate] }

// TimedGates returns the gates that [State.GateDurations] knows, sorted.
func (s *State) TimedGates() []string {
	all := make([]string, 0, len(s.pace))
	for gate := range s.pace {
		all = append(all, gate)
	}
	slices.Sort(all)
	return all
}

// TaskWorkTime returns the time of work on a task up to a time. Pauses and waits for providers do
// not count.
func (s *State) TaskWorkTime(t *TaskState, at time.Time) time.Duration {
	d := t.Worked
	if a := t.CurrentAttempt(); a != nil {
		d += s.AttemptWorkTime(a, at) - a.Worked
	}
	return d
}

// AttemptWorkTime returns the time of work in an attempt up to a time, as [State.TaskWorkTime] counts
// it.
func (s *State) AttemptWorkTime(a *AttemptState, at time.Time) time.Duration {
	if a.Stage != Working {
		return a.Worked
	}
	return a.Worked + max(0, s.runClock(at).Sub(a.Clock)-a.WaitTime(at))
}
