package repair

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// CriteriaGate is the cause of a round in which a tester writes checks for
// criteria that have none, after work that is green and has its tests.
const CriteriaGate = "criteria"

// afterGreenGates decides on work that is green and has its tests. A gate that passes
// lets it land where something shows its criteria. Where nothing does, a tester
// writes a check for them, or says why there can be none; what that finds goes
// back to the author; and what is still not shown is left to a person.
func afterGreenGates(t *state.Task, a *state.Attempt, l nexus.Limits, facts Facts) Step {
	if c, ok := refuted(a); ok {
		gate := nexus.AcceptGate + c.Command
		if countRounds(a, gate) >= max(2, l.Same) {
			return Step{Move: End, Outcome: nexus.NoProgress, Category: nexus.TestsFailing, Why: fmt.Sprintf("criterion %d is not met: %s", c.Number, c.Why)}
		}
		return beginRound(t, a, l, Step{
			Role: firstRole(t), Cause: gate, Why: c.Why,
			Findings: []nexus.Finding{{Gate: gate, File: c.File, Test: c.Test, Message: fmt.Sprintf("criterion %d: %s", c.Number, c.Why)}},
		})
	}
	if step, ok := unchecked(t, a, l, facts); ok {
		return step
	}
	if facts.Unshown != "" {
		return unshown(t, a, l, facts)
	}
	if step, ok := independent(t, a, l, facts); ok {
		return step
	}
	return edit(t, a, l, facts)
}

// refuted returns a check that somebody wrote for a criterion and that the tree
// as it is fails, for what it asks and not for a fault of its own.
func refuted(a *state.Attempt) (nexus.CriterionCheck, bool) {
	if i := slices.IndexFunc(a.Checks.Checks, func(c nexus.CriterionCheck) bool { return c.Red }); i >= 0 && a.Checks.Tree == a.LastRound().Verdict.Tree {
		return a.Checks.Checks[i], true
	}
	return nexus.CriterionCheck{}, false
}

// countRounds counts the rounds that a cause had.
func countRounds(a *state.Attempt, cause string) int {
	n := 0
	for _, r := range a.Rounds {
		if r.Cause == cause {
			n++
		}
	}
	return n
}

// unchecked lets a tester write checks of criteria for work that is green, once,
// and where a round is left for it.
func unchecked(t *state.Task, a *state.Attempt, l nexus.Limits, facts Facts) (Step, bool) {
	asked := a.LastSession(nexus.Tester) != nil && (facts.Unshown == "" || countRounds(a, CriteriaGate) > 0)
	if !facts.Unchecked || asked || !needsTests(t, a, facts) {
		return Step{}, false
	}
	step := beginRound(t, a, l, Step{Role: nexus.Tester, Cause: CriteriaGate})
	return step, step.Move == Write
}

// criteria decides after a round in which checks of criteria were to be written.
// The work was green before it: whatever comes of the round, that is not
// lost. What does not help is taken back, and the gates say about the tree again
// what they said about it.
func criteria(t *state.Task, a *state.Attempt, l nexus.Limits, s *state.Session, facts Facts) Step {
	r, green := a.LastRound(), a.Rounds[max(0, len(a.Rounds)-2)].Verdict
	back := green != nil && a.Snapshot.Tree == green.Tree
	forgo := func(why string) Step { return Step{Move: Forgo, Why: why} }
	switch {
	case back && (r.Verdict == nil || r.Verdict.Tree != green.Tree):
		return Step{Move: Judge}
	case !back && s.Outcome != nexus.Accepted:
		return forgo("its author did not finish: " + cmp.Or(s.Why, string(s.Outcome)))
	case !back && facts.Meddled != "":
		return forgo("it came with a change of " + facts.Meddled + ", which was there before")
	case r.Verdict == nil:
		return Step{Move: Judge}
	case !back && r.Verdict.State == nexus.Fail && facts.Refuted:
		return repairGateFindings(t, a, l)
	case !back && r.Verdict.State != nexus.Pass:
		return forgo("the tree fails with it: " + because(r.Verdict))
	case len(r.Reviews) > 0:
		return afterReview(t, a, l)
	default:
		return afterGates(t, a, l, facts)
	}
}
