package schedule

import (
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// firstSpec is the attempt whose sessions write a spec.
const firstSpec nexus.AttemptID = "spec.1"

// specifying starts the writing of a spec, and nothing else.
func specifying(s *state.State) []nexus.Fact {
	p := s.Planning
	switch {
	case isWorking(p):
		return nil
	case s.Spec.Written != nil:
		return facts(nexus.RunEnded{Status: nexus.StatusDone, Why: "the spec is written"})
	case s.Spec.Failed != nil:
		to := nexus.StatusFailed
		if c := s.Spec.Failed.Code; c == nexus.CodeBudget || c == nexus.CodeLimit {
			to = nexus.StatusLimit
		}
		return facts(nexus.RunEnded{Status: to, Why: s.Spec.Failed.Why})
	case p != nil && tooOften(s, p):
		return facts(nexus.RunEnded{Status: nexus.StatusFailed, Why: fmt.Sprintf("writing the spec was interrupted %d times", p.Losses)})
	}
	return facts(nexus.SpecSought{Attempt: firstSpec})
}
