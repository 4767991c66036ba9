package repair

import (
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// UnshownCause is the cause of a round in which the author of work that is green
// is told that nothing shows a criterion, and why.
const UnshownCause = "unshown"

// unclear lets the author of work know once that a gate could not tell whether
// it is right: its tests may be skipped, or print what nobody understands. After
// that it is left to a person, and so is what a gate cannot tell of the base
// either.
func unclear(t *state.Task, a *state.Attempt, l nexus.Limits, facts Facts) Step {
	v := a.LastRound().Verdict
	end := Step{Move: End, Outcome: nexus.Unverified, Why: because(v)}
	e := nexus.EvidenceOf(a.LastRound().Evidence, v.Gate)
	given := strings.HasPrefix(v.Gate, nexus.AcceptGate) // its command is not the author's to change
	if e.Gate == "" || given || e.Hangs || e.Base != "" || facts.Before || facts.Untouched || countRounds(a, v.Gate) > 0 {
		return end
	}
	return orEnd(beginRound(t, a, l, Step{Role: firstRole(t), Cause: v.Gate, Findings: decidingFindings(a.LastRound()), Why: v.Why}), end)
}

// unshown is [unclear] for a criterion that nothing shows on a tree that is
// green, as where the tests of the change pass without the rest of it.
func unshown(t *state.Task, a *state.Attempt, l nexus.Limits, facts Facts) Step {
	end := Step{Move: End, Outcome: nexus.Unverified, Why: facts.Unshown}
	if countRounds(a, UnshownCause) > 0 || facts.Untouched {
		return end
	}
	return orEnd(beginRound(t, a, l, Step{Role: firstRole(t), Cause: UnshownCause, Why: facts.Unshown}), end)
}

// orEnd returns a step that writes, and the end where no round is left for it.
func orEnd(step, end Step) Step {
	if step.Move != Write {
		return end
	}
	return step
}
