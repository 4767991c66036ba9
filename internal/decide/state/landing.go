package state

import (
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// applyTrain applies facts about the landing of accepted work on the run's branch.
func (s *State) applyTrain(f nexus.Fact, e nexus.Event) {
	at := e.At
	switch f := f.(type) {
	case nexus.TrainBoarded:
		s.Queue = append(s.Queue, &QueuedLanding{Task: f.Task, Attempt: f.Attempt})
		s.tasks[f.Task].Status = nexus.Boarding
	case nexus.TrainDeparted:
		s.startLanding(f, at)
	case nexus.TrainLanded:
		t := s.tasks[f.Task]
		l := &Landing{f, at, e.Seq}
		t.Status, t.Landed, t.Ended, t.Why = nexus.Landed, &l.TrainLanded, at, ""
		s.Tip = f.Commit
		s.endLanding()
		s.Landings = append(s.Landings, l)
	case nexus.TrainRefused:
		s.endLanding()
		if a := s.attempts[f.Attempt]; a != nil {
			a.Apply(f, at)
		}
		if t := s.tasks[f.Task]; t.Status == nexus.Boarding {
			t.Status = nexus.Running
		}
	default:
	}
}

// endLanding ends a landing, with any result.
func (s *State) endLanding() {
	if s.CurrentLanding != nil {
		s.CurrentLanding.Merge.Stage = Over
		s.CurrentLanding = nil
	}
}

// startLanding removes an attempt from the queue. Its merger, if one is needed, has an
// attempt of its own, so that it can be resumed like any other.
func (s *State) startLanding(f nexus.TrainDeparted, at time.Time) {
	s.dequeueLanding(f.Task)
	id := MergeID(f.Attempt)
	m := s.attempts[id]
	if m == nil || m.Base != f.Onto {
		m = &Attempt{ID: id, Base: f.Onto, Began: at}
		s.attempts[id] = m
	}
	m.Stage = Working
	s.CurrentLanding = &QueuedLanding{Task: f.Task, Attempt: f.Attempt, Onto: f.Onto, Merge: m}
}

// MergeID returns the ID of the merger's attempt for an attempt.
func MergeID(id nexus.AttemptID) nexus.AttemptID { return id + mergeSuffix }

const mergeSuffix = "-merge"
