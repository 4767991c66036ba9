package state

import (
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// RunningGate is a gate that began to judge and has not ended.
type RunningGate struct {
	nexus.GateStarted
	At time.Time
}

// same reports whether two gates judge for the same attempt or landing: one
// takes the place of the other.
func (u RunningGate) same(o nexus.GateStarted) bool {
	return u.Attempt == o.Attempt && u.Task == o.Task
}

// paced is how many of the last judgements of a gate say how long it takes.
const paced = 9

// gates keeps which gates judge now, and how long each takes. A fact that a
// watchedWorker records only when no gate judges for it ends the one that was cut off.
func (s *State) gates(f nexus.Fact, at time.Time) {
	switch f := f.(type) {
	case nexus.GateStarted:
		s.ungate(func(u RunningGate) bool { return u.same(f) })
		s.Gating = append(s.Gating, RunningGate{f, at})
	case nexus.GateJudged:
		took := f.Evidence.Duration
		s.ungate(func(u RunningGate) bool {
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
	case nexus.TrainLanded:
		s.ungate(func(u RunningGate) bool { return u.Task == f.Task && u.Attempt == "" })
	case nexus.TrainRefused:
		s.ungate(func(u RunningGate) bool { return u.Task == f.Task && u.Attempt == "" })
	case nexus.ResultGated:
		s.ungate(func(u RunningGate) bool { return u.Task == "" && u.Attempt == "" })
	case nexus.RunRecovered, nexus.RunEnded:
		s.Gating = nil
	default:
		if id := attemptWithoutGate(f); id != "" {
			s.ungate(func(u RunningGate) bool { return u.Attempt == id || u.Attempt == "" && s.landing(id, u.Task) })
		}
	}
}

// recordGateDuration remembers how long a gate took.
func (s *State) recordGateDuration(gate string, took time.Duration) {
	all := append(s.pace[gate], took)
	s.pace[gate] = all[max(0, len(all)-paced):]
}

// landing reports whether an attempt is the merger's, for the landing of a
// task.
func (s *State) landing(id nexus.AttemptID, task nexus.TaskID) bool {
	return s.CurrentLanding != nil && s.CurrentLanding.Merge.ID == id && s.CurrentLanding.Task == task
}

// ungate forgets gates.
func (s *State) ungate(which func(RunningGate) bool) { s.Gating = slices.DeleteFunc(s.Gating, which) }

// attemptWithoutGate returns the attempt for which no gate judges any more once a fact is
// recorded, empty for other facts.
func attemptWithoutGate(f nexus.Fact) nexus.AttemptID {
	switch f := f.(type) {
	case nexus.AttemptLost:
		return f.Attempt
	case nexus.AttemptBroken:
		return f.Attempt
	case nexus.AttemptEnded:
		return f.Attempt
	case nexus.RoundStarted:
		return f.Attempt
	case nexus.SessionStarted:
		return f.Attempt
	case nexus.VerdictGiven:
		return f.Attempt
	case nexus.TestsProved:
		return f.Attempt
	case nexus.ChecksProved:
		return f.Attempt
	case nexus.ChecksReproduced:
		return f.Attempt
	case nexus.FaultsFound:
		return f.Attempt
	default:
		return ""
	}
}

// GateDurations returns how long the last judgements of a gate took in this run, from
// its start until its evidence was recorded; empty where it ran in no tree.
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

// WorkedOn returns how long a task was worked on up to a time. Pauses, and
// waits for providers, do not count.
func (s *State) WorkedOn(t *Task, at time.Time) time.Duration {
	d := t.Worked
	if a := t.Current(); a != nil && a.Stage == Working {
		d += max(0, s.clock(at).Sub(a.Clock)-a.WaitTime(at))
	}
	return d
}
