package state

import (
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Spec is the result of a run that writes a spec. The zero Spec is empty.
type Spec struct {
	Written *nexus.SpecWritten
	Failed  *nexus.SpecFailed
}

// applySpec applies facts about the writing of a spec.
func (s *State) applySpec(f nexus.Fact, at time.Time) {
	switch f := f.(type) {
	case nexus.SpecSought:
		if s.attempts[f.Attempt] == nil {
			s.Planning = &Attempt{ID: f.Attempt, Base: s.Goal.Base, Began: at, Active: at}
			s.attempts[f.Attempt] = s.Planning
		}
		s.Planning.Stage, s.Spec.Failed = Working, nil
	case nexus.SpecWritten:
		s.Planning.Stage, s.Planning.Losses, s.Spec.Written = Waiting, 0, &f
	case nexus.SpecFailed:
		s.Planning.Stage, s.Spec.Failed = Waiting, &f
	default:
	}
}
