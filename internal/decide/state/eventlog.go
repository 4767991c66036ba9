package state

import (
	"fmt"
	"iter"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ReadPastFrom tells the state where it can read again what was applied to it, so that it need not keep
// that in memory, and returns it. The past begins with the first event of the run each time that
// it is read, and has at least what was applied.
func (s *State) ReadPastFrom(past iter.Seq2[nexus.Event, error]) *State {
	s.past, s.log = past, nil
	return s
}

// keep notes that an event was applied.
func (s *State) keep(e nexus.Event) {
	if s.first == 0 {
		s.first = e.Seq
	}
	if s.past == nil {
		e.Hash = ""
		s.log = append(s.log, e)
	}
}

// events returns what was applied, the first first. A past may have more.
func (s *State) events() iter.Seq2[nexus.Event, error] {
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

// StateAt returns the state as it was after an event of the past. What was under way
// then is under way in it.
func (s *State) StateAt(seq int64) (*State, error) {
	if seq < s.first {
		return nil, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("run %s had not begun at event %d", s.Run, seq),
			Hint: fmt.Sprintf("Its first event is %d; nexus checkpoint list names its points.", s.first),
		}
	}
	then := New(s.Run)
	then.past = s.past
	if s.shelf != nil {
		then.DiscardLandedDetails()
	}
	for e, err := range s.events() {
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
