package repair

import (
	"cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// CriteriaGate is the cause of a round in which a tester writes checks for
// criteria that have none, after work that is green and has its tests.
const CriteriaGate = "criteria"

// unchecked lets a tester write checks of criteria for work that is green, once,
// and where a round is left for it.
func unchecked(t *state.Task, a *state.Attempt, l nexus.Limits, facts Facts) (Step, bool) {
	if !facts.Unchecked || a.Of(nexus.Tester) != nil || !needsTests(t, a) {
		return Step{}, false
	}
	step := write(t, a, l, Step{Role: nexus.Tester, Cause: CriteriaGate})
	return step, step.Move == Write
}

// criteria decides after a round in which checks of criteria were to be written.
// The work was green before it: whatever comes of the round, that is not
// lost. What does not help is taken back, and the gates say of the tree again
// what they said of it.
func criteria(t *state.Task, a *state.Attempt, l nexus.Limits, s *state.Session, facts Facts) Step {
	r, green := a.Last(), a.Rounds[max(0, len(a.Rounds)-2)].Verdict
	back := green != nil && a.Snapshot.Tree == green.Tree
	forgo := func(why string) Step { return Step{Move: Forgo, Why: why} }
	switch {
	case back && (r.Verdict == nil || r.Verdict.Tree != green.Tree):
		return Step{Move: Judge}
	case !back && s.Outcome != nexus.Accepted:
		return forgo("whoever was to write it did not finish: " + cmp.Or(s.Why, string(s.Outcome)))
	case !back && facts.Meddled != "":
		return forgo("it came with a change of " + facts.Meddled + ", which was there before")
	case r.Verdict == nil:
		return Step{Move: Judge}
	case !back && r.Verdict.State != nexus.Pass:
		return forgo("the tree is red with it: " + because(r.Verdict))
	case len(r.Reviews) > 0:
		return afterReview(t, a, l)
	default:
		return afterGates(t, a, l, facts)
	}
}
