package repair

import (
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// continueAfterComments continues with accepted work on which a person commented: suggested
// replacements are applied first, and then the author receives the rest.
func continueAfterComments(t *state.Task, a *state.Attempt, l nexus.Limits) Step {
	if len(a.Sent.Apply) > 0 && a.Applied == nil {
		return Step{Move: Apply, Cause: nexus.ApplyCause, Why: a.Sent.Why}
	}
	return beginRound(t, a, l, Step{Role: firstRole(t), Cause: nexus.PersonCause, Why: a.Sent.Why})
}

// KeptCause is the cause of a round without a writer: the gates judge an attempt's starting
// tree.
const KeptCause = "kept"

// regate starts a round in which the gates judge an attempt's starting tree, if a round is
// left for it and for a writer after it.
func regate(t *state.Task, a *state.Attempt, l nexus.Limits, writes Step) Step {
	if l.Rounds > 0 && t.CountedRounds()+fresh(t, a)+1 >= l.Rounds {
		return beginRound(t, a, l, writes)
	}
	return Step{Move: Regate}
}

// revised decides after a round without an agent: a suggested replacement, or the tree of an
// earlier attempt, is judged like all work, and failures go to the author.
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
