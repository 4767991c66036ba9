package repair

import (
	"cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// edit lets an editor do the next step of the pipeline with work that is green, in a
// round of its own. When none is left, somebody reads the work as it is then.
func edit(t *state.Task, a *state.Attempt, l nexus.Limits, facts Facts) Step {
	if facts.Due == "" {
		return verifyOrReview(t, a, l, facts)
	}
	step := beginRound(t, a, l, Step{Role: nexus.Editor, Cause: nexus.StepCause + facts.Due})
	if step.Move == End && facts.DueSpare {
		return verifyOrReview(t, a, l, facts) // there is no round left for it
	}
	return step
}

// edited decides after the round of an editor. The work was green before it. What the
// editor did is judged as all work is, and what is red then goes to the author. Of a
// step that need not succeed, it is taken back, and the gates say about the tree again
// what they said about it.
func edited(t *state.Task, a *state.Attempt, l nexus.Limits, s *state.Session, facts Facts) Step {
	r, green := a.LastRound(), a.Rounds[max(0, len(a.Rounds)-2)].Verdict
	back := green != nil && a.Snapshot.Tree == green.Tree
	switch {
	case back && (r.Verdict == nil || r.Verdict.Tree != green.Tree) && (s.Outcome == nexus.Accepted || facts.Spare):
		return Step{Move: Judge}
	case s.Outcome != nexus.Accepted && !facts.Spare:
		return unfinished(t, a, l, s, facts)
	case !back && s.Outcome != nexus.Accepted:
		return Step{Move: Forgo, Why: "the editor did not finish: " + cmp.Or(s.Why, string(s.Outcome))}
	case r.Verdict == nil:
		return Step{Move: Judge}
	case !back && facts.Spare && r.Verdict.State != nexus.Pass && r.Verdict.State != nexus.NotRun:
		return Step{Move: Forgo, Why: "the tree fails with it: " + because(r.Verdict)}
	case len(r.Reviews) > 0:
		return afterReview(t, a, l)
	default:
		return afterGates(t, a, l, facts)
	}
}
