package repair

import (
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// continueAfterComments continues with accepted work on which a person commented: suggested
// replacements are applied first, and then the author receives the rest.
func continueAfterComments(t *state.TaskState, a *state.AttemptState, l nexus.Limits) RepairStep {
	if len(a.Sent.Apply) > 0 && a.Applied == nil {
		return RepairStep{Move: Apply, Cause: nexus.ApplyCause, Why: a.Sent.Why}
	}
	return beginRound(t, a, l, RepairStep{Role: firstWriterRole(t), Cause: nexus.PersonCause, Why: a.Sent.Why})
}

// KeptCause is the cause of a round without a writer: the gates judge an attempt's starting
// tree.
const KeptCause = "kept"

// judgeStartingTree starts a round in which the gates judge an attempt's starting tree, if a round is
// left for it and for a writer after it.
func judgeStartingTree(t *state.TaskState, a *state.AttemptState, l nexus.Limits, writes RepairStep) RepairStep {
	if l.Rounds > 0 && t.CountedRounds()+countNewRounds(t, a)+1 >= l.Rounds {
		return beginRound(t, a, l, writes)
	}
	return RepairStep{Move: Regate}
}

// decideAfterRevision decides after a round without an agent: a suggested replacement, or the tree of an
// earlier attempt, is judged like all work, and failures go to the author.
func decideAfterRevision(t *state.TaskState, a *state.AttemptState, l nexus.Limits, facts AttemptTreeFacts) RepairStep {
	r := a.LastRound()
	switch {
	case r.Verdict == nil:
		return RepairStep{Move: Judge}
	case len(r.Reviews) > 0:
		return decideAfterReview(t, a, l)
	case a.Strategy == nexus.TDDSimple && r.Verdict.State == nexus.Pass && !hasTestsSeenFailing(a) && facts.Tested:
		return proveOwnTests(t, a, l)
	default:
		return decideAfterGates(t, a, l, facts)
	}
}
