package state

import (
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// SpecWritingResult is the result of a run that writes a spec. The zero value is empty.
type SpecWritingResult struct {
	Written *nexus.SpecWritten
	Failed  *nexus.SpecWritingFailed
}

// applySpec applies facts about the writing of a spec.
func (s *State) applySpec(f nexus.Fact, at time.Time) {
	switch f := f.(type) {
	case nexus.SpecWritingStarted:
		if s.attempts[f.Attempt] == nil {
			s.Planning = &AttemptState{ID: f.Attempt, Base: s.Goal.Base, Began: at, Active: at}
			s.attempts[f.Attempt] = s.Planning
		}
		s.Planning.Stage, s.Spec.Failed = Working, nil
	case nexus.SpecWritten:
		s.Planning.Stage, s.Planning.Losses, s.Spec.Written = Waiting, 0, &f
	case nexus.SpecWritingFailed:
		s.Planning.Stage, s.Spec.Failed = Waiting, &f
	default:
	}
}
