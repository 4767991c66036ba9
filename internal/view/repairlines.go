package view

import (
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// RepairLines lists the failures before landing, task by task: the gates and reviews that sent
// work back, and merges with conflicts.
func RepairLines(s *state.State) []string {
	var all []string
	for _, t := range s.Tasks {
		if t.Landed == nil {
			continue
		}
		for _, a := range t.Attempts {
			a = a.UnpackedCopy()
			for i, r := range a.Rounds {
				if why := roundFailure(r); why != "" {
					line := fmt.Sprintf("%s: %s", t.ID, why)
					if i+1 < len(a.Rounds) {
						line += fmt.Sprintf("; repaired in round %d", i+2)
					}
					all = append(all, line)
				}
			}
			if a.Outcome != nexus.Accepted && a.Outcome != "" {
				all = append(all, fmt.Sprintf("%s: attempt %s ended: %s", t.ID, a.ID, WithReason(string(a.Outcome), EscapeForTerminal(a.Why))))
			}
		}
		if t.Landed.Resolved {
			all = append(all, fmt.Sprintf("%s: its merge conflicted with what had landed; the merger resolved it, and the gates judged the result", t.ID))
		}
	}
	return all
}

// roundFailure describes why a round's work was sent back, empty if it was not.
func roundFailure(r *state.AttemptRound) string {
	for _, e := range r.Evidence {
		if e.State == nexus.Fail && len(e.Findings) > 0 {
			return fmt.Sprintf("%s failed: %s", e.Gate, FindingText(e.Findings[0]))
		}
	}
	for _, v := range r.Reviews {
		if v.Reviewed && !v.Approved {
			return "review rejected it: " + EscapeForTerminal(v.Summary)
		}
	}
	if v := r.Verified; v != nil && v.Category != "" {
		return WithReason("the verifier rejected it", EscapeForTerminal(v.Why))
	}
	return ""
}
