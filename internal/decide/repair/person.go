package repair

import (
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// sent continues with accepted work that a person said something about: what they suggested
// is done first, and then its author is told the rest.
func sent(t *state.Task, a *state.Attempt, l nexus.Limits) Step {
	if len(a.Sent.Apply) > 0 && a.Applied == nil {
		return Step{Move: Apply, Cause: nexus.ApplyCause, Why: a.Sent.Why}
	}
	return write(t, a, l, Step{Role: firstRole(t), Cause: nexus.PersonCause, Why: a.Sent.Why})
}

// revised decides after a round in which nobody wrote but a person: what they suggested is
// judged as all work is, and what is red then goes to the author.
func revised(t *state.Task, a *state.Attempt, l nexus.Limits, facts Facts) Step {
	r := a.Last()
	switch {
	case r.Verdict == nil:
		return Step{Move: Judge}
	case len(r.Reviews) > 0:
		return afterReview(t, a, l)
	default:
		return afterGates(t, a, l, facts)
	}
}
