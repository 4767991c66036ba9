package state

import (
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// applyTrain folds how accepted work gets onto the run's branch.
func (s *State) applyTrain(f nexus.Fact, e nexus.Event) {
	at := e.At
	switch f := f.(type) {
	case nexus.TrainBoarded:
		s.Queue = append(s.Queue, &Ticket{Task: f.Task, Attempt: f.Attempt})
		s.tasks[f.Task].Status = nexus.Boarding
	case nexus.TrainDeparted:
		s.depart(f, at)
	case nexus.TrainLanded:
		t := s.tasks[f.Task]
		l := &Landing{f, at, e.Seq}
		t.Status, t.Landed, t.Ended, t.Why = nexus.Landed, &l.TrainLanded, at, ""
		s.Tip = f.Commit
		s.arrive()
		s.Landings = append(s.Landings, l)
	case nexus.TrainRefused:
		s.arrive()
		if a := s.attempts[f.Attempt]; a != nil {
			a.Apply(f, at)
		}
		if t := s.tasks[f.Task]; t.Status == nexus.Boarding {
			t.Status = nexus.Running
		}
	default:
	}
}

// arrive ends a landing, whatever came of it.
func (s *State) arrive() {
	if s.Aboard != nil {
		s.Aboard.Merge.Stage = Over
		s.Aboard = nil
	}
}

// depart takes a ticket off the queue. Its merger, if one is needed, works
// under an attempt of its own, so that it can be resumed like any other.
func (s *State) depart(f nexus.TrainDeparted, at time.Time) {
	s.alight(f.Task)
	id := MergeID(f.Attempt)
	m := s.attempts[id]
	if m == nil || m.Base != f.Onto {
		m = &Attempt{ID: id, Base: f.Onto, Began: at}
		s.attempts[id] = m
	}
	m.Stage = Working
	s.Aboard = &Ticket{Task: f.Task, Attempt: f.Attempt, Onto: f.Onto, Merge: m}
}

// MergeID names the merger's work for an attempt.
func MergeID(id nexus.AttemptID) nexus.AttemptID { return id + mergeSuffix }

const mergeSuffix = "-merge"
