package state

import (
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// applyLandingQueue applies facts about the landing of accepted work on the run's branch.
func (s *State) applyLandingQueue(f nexus.Fact, e nexus.Event) {
	at := e.At
	switch f := f.(type) {
	case nexus.LandingQueued:
		s.Queue = append(s.Queue, &QueuedLanding{Task: f.Task, Attempt: f.Attempt})
		s.tasks[f.Task].Status = nexus.Boarding
	case nexus.LandingStarted:
		s.startLanding(f, at)
	case nexus.LandingCompleted:
		t := s.tasks[f.Task]
		l := &CompletedLanding{f, at, e.Seq}
		t.Status, t.Landed, t.Ended, t.Why = nexus.Landed, &l.LandingCompleted, at, ""
		s.Tip = f.Commit
		s.endLanding()
		s.Landings = append(s.Landings, l)
	case nexus.LandingRejected:
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
func (s *State) startLanding(f nexus.LandingStarted, at time.Time) {
	s.dequeueLanding(f.Task)
	id := MergerAttemptID(f.Attempt)
	m := s.attempts[id]
	if m == nil || m.Base != f.Onto {
		m = &AttemptState{ID: id, Base: f.Onto, Began: at}
		s.attempts[id] = m
	}
	m.Stage = Working
	s.CurrentLanding = &QueuedLanding{Task: f.Task, Attempt: f.Attempt, Onto: f.Onto, Merge: m}
}

// MergerAttemptID returns the ID of the merger's attempt for an attempt.
func MergerAttemptID(id nexus.AttemptID) nexus.AttemptID { return id + mergeSuffix }

const mergeSuffix = "-merge"
