package state

import (
	"fmt"
	"iter"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// eventLog is the past of a run, to which it may go back.
type eventLog struct {
	first int64                         // first applied event
	past  iter.Seq2[nexus.Event, error] // reads the applied events again; nil: log contains them
	log   []nexus.Event                 // all applied events, without hashes; empty with a past
}

// ReadPastFrom gives the state a source from which it can read its applied events again, so
// that it need not store them in memory. It returns the state. The source starts with the
// run's first event each time that it is read, and contains at least the applied events.
func (s *State) ReadPastFrom(past iter.Seq2[nexus.Event, error]) *State {
	s.past, s.log = past, nil
	return s
}

// logEvent stores an applied event.
func (s *State) logEvent(e nexus.Event) {
	if s.first == 0 {
		s.first = e.Seq
	}
	if s.past == nil {
		e.Hash = ""
		s.log = append(s.log, e)
	}
}

// PastEvents returns the applied events in order. The source may contain more.
func (s *State) PastEvents() iter.Seq2[nexus.Event, error] {
	if s.past != nil {
		return s.past
	}
	return func(yield func(nexus.Event, error) bool) {
		for _, e := range s.log {
			if !yield(e, nil) {
				return
			}
		}
	}
}

// StateAt returns the state after an event of the past. Work in progress at that time is in
// progress in it.
func (s *State) StateAt(seq int64) (*State, error) {
	if seq < s.first {
		return nil, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("run %s had not begun at event %d", s.Run, seq),
			Hint: fmt.Sprintf("Its first event is %d; nexus checkpoint list names its points.", s.first),
		}
	}
	then := NewState(s.Run)
	then.past = s.past
	if s.shelf != nil {
		then.DiscardLandedDetails()
	}
	for e, err := range s.PastEvents() {
		if err != nil {
			return nil, err
		}
		if e.Seq > seq {
			break
		}
		if err := then.Apply(e); err != nil {
			return nil, err
		}
	}
	if then.first != s.first {
		return nil, fmt.Errorf("the past of run %s can no longer be read from event %d on", s.Run, s.first)
	}
	return then, nil
}
