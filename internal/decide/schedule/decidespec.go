package schedule

import (
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// firstSpec is the attempt whose sessions write a spec.
const firstSpec nexus.AttemptID = "spec.1"

// decideSpec starts the writing of a spec, and nothing else.
func decideSpec(s *state.State) []nexus.Fact {
	p := s.Planning
	switch {
	case isWorking(p):
		return nil
	case s.Spec.Written != nil:
		return factList(nexus.RunEnded{Status: nexus.StatusDone, Why: "the spec is written"})
	case s.Spec.Failed != nil:
		to := nexus.StatusFailed
		if c := s.Spec.Failed.Code; c == nexus.CodeBudget || c == nexus.CodeLimit {
			to = nexus.StatusLimit
		}
		return factList(nexus.RunEnded{Status: to, Why: s.Spec.Failed.Why})
	case p != nil && isLostTooOften(s, p):
		return factList(nexus.RunEnded{Status: nexus.StatusFailed, Why: fmt.Sprintf("writing the spec was interrupted %d times", p.Losses)})
	}
	return factList(nexus.SpecWritingStarted{Attempt: firstSpec})
}
