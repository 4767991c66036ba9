package state

import (
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// applyInterview applies facts about the interview's attempts.
func (s *State) applyInterview(f nexus.Fact, at time.Time) {
	switch f := f.(type) {
	case nexus.InterviewRoundStarted:
		if s.attempts[f.Attempt] == nil {
			s.Planning = &AttemptState{ID: f.Attempt, Base: s.Goal.Base, Began: at, Active: at}
			s.attempts[f.Attempt] = s.Planning
		}
		s.Planning.Stage = Working
	case nexus.InterviewRoundEnded:
		s.Planning.Stage, s.Planning.Losses = Waiting, 0
	case nexus.InterviewRoundFailed:
		s.Planning.Stage = Waiting
	default:
	}
}
