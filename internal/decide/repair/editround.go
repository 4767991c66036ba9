package repair

import (
	"cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// editOrReview starts a round in which an editor does the next step of the pipeline on work that
// passed. If no round is left, the work is reviewed as it is.
func editOrReview(t *state.TaskState, a *state.AttemptState, l nexus.Limits, facts AttemptTreeFacts) RepairStep {
	if facts.Due == "" {
		return verifyOrReview(t, a, l, facts)
	}
	step := beginRound(t, a, l, RepairStep{Role: nexus.Editor, Cause: nexus.StepCause + facts.Due})
	if step.Move == End && facts.DueSpare {
		return verifyOrReview(t, a, l, facts) // no round is left for it
	}
	return step
}

// decideAfterEditRound decides after an editor's round. The work passed before it. The editor's changes are
// judged like all work, and failures go to the author. The changes of an optional step are
// removed instead, and the gates give the same result for the tree again.
func decideAfterEditRound(t *state.TaskState, a *state.AttemptState, l nexus.Limits, s *state.AgentSessionState, facts AttemptTreeFacts) RepairStep {
	r, green := a.LastRound(), a.Rounds[max(0, len(a.Rounds)-2)].Verdict
	back := green != nil && a.Snapshot.Tree == green.Tree
	switch {
	case back && (r.Verdict == nil || r.Verdict.Tree != green.Tree) && (s.Outcome == nexus.Accepted || facts.Spare):
		return RepairStep{Move: Judge}
	case s.Outcome != nexus.Accepted && !facts.Spare:
		return decideAfterUnfinishedSession(t, a, l, s, facts)
	case !back && s.Outcome != nexus.Accepted:
		return RepairStep{Move: Forgo, Why: "the editor did not finish: " + cmp.Or(s.Why, string(s.Outcome))}
	case r.Verdict == nil:
		return RepairStep{Move: Judge}
	case !back && facts.Spare && r.Verdict.State != nexus.Pass && r.Verdict.State != nexus.NotRun:
		return RepairStep{Move: Forgo, Why: "the tree fails with it: " + verdictReason(r.Verdict)}
	case len(r.Reviews) > 0:
		return decideAfterReview(t, a, l)
	default:
		return decideAfterGates(t, a, l, facts)
	}
}
