package repair

import (
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// continueAfterComments continues with accepted work that a person said something about: what they suggested
// is done first, and then its author is told the rest.
func continueAfterComments(t *state.Task, a *state.Attempt, l nexus.Limits) Step {
	if len(a.Sent.Apply) > 0 && a.Applied == nil {
		return Step{Move: Apply, Cause: nexus.ApplyCause, Why: a.Sent.Why}
	}
	return beginRound(t, a, l, Step{Role: firstRole(t), Cause: nexus.PersonCause, Why: a.Sent.Why})
}

// KeptCause is the cause of a round in which nobody writes: the gates judge what
// an attempt starts from.
const KeptCause = "kept"

// regate lets the gates judge what an attempt starts from, where a round is left
// for it and for whoever would write.
func regate(t *state.Task, a *state.Attempt, l nexus.Limits, writes Step) Step {
	if l.Rounds > 0 && t.CountedRounds()+fresh(t, a)+1 >= l.Rounds {
		return beginRound(t, a, l, writes)
	}
	return Step{Move: Regate}
}

// revised decides after a round in which no agent wrote: what a person suggested, or what an
// earlier attempt left, is judged as all work is, and what is red then goes to the author.
func revised(t *state.Task, a *state.Attempt, l nexus.Limits, facts Facts) Step {
	r := a.LastRound()
	switch {
	case r.Verdict == nil:
		return Step{Move: Judge}
	case len(r.Reviews) > 0:
		return afterReview(t, a, l)
	case a.Strategy == nexus.TDDSimple && r.Verdict.State == nexus.Pass && !proven(a) && facts.Tested:
		return proveOwn(t, a, l)
	default:
		return afterGates(t, a, l, facts)
	}
}
