package repair

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// CriteriaGate is the cause of a round in which a tester writes checks for criteria without
// one, after the work has passed the gates and has its tests.
const CriteriaGate = "criteria"

// decideAfterGreenGates decides about work that passed the gates and has its tests. It may land if
// there is evidence for its criteria. Otherwise a tester writes a check for them, or gives
// the reason why there can be none; failures of such checks go back to the author; and
// criteria that are still without evidence are left to a person.
func decideAfterGreenGates(t *state.TaskState, a *state.AttemptState, l nexus.Limits, facts AttemptTreeFacts) RepairStep {
	if c, ok := refutedCheck(a); ok {
		gate := nexus.AcceptGate + c.Command
		if countRounds(a, gate) >= max(2, l.Same) {
			return RepairStep{Move: End, Outcome: nexus.NoProgress, Category: nexus.TestsFailing, Why: fmt.Sprintf("criterion %d is not met: %s", c.Number, c.Why)}
		}
		return beginRound(t, a, l, RepairStep{
			Role: firstWriterRole(t), Cause: gate, Why: c.Why,
			Findings: []nexus.Finding{{Gate: gate, File: c.File, Test: c.Test, Message: fmt.Sprintf("criterion %d: %s", c.Number, c.Why)}},
		})
	}
	if step, ok := requestChecks(t, a, l, facts); ok {
		return step
	}
	if facts.Unshown != "" {
		return decideAfterUnprovenCriterion(t, a, l, facts)
	}
	if step, ok := decideIndependentCheck(t, a, l, facts); ok {
		return step
	}
	return editOrReview(t, a, l, facts)
}

// refutedCheck returns a check of a criterion that the present tree fails, because of the work and
// not because of a fault of the check.
func refutedCheck(a *state.AttemptState) (nexus.CriterionTest, bool) {
	if i := slices.IndexFunc(a.Checks.Checks, func(c nexus.CriterionTest) bool { return c.Red }); i >= 0 && a.Checks.Tree == a.LastRound().Verdict.Tree {
		return a.Checks.Checks[i], true
	}
	return nexus.CriterionTest{}, false
}

// countRounds counts the rounds with a cause.
func countRounds(a *state.AttemptState, cause string) int {
	n := 0
	for _, r := range a.Rounds {
		if r.Cause == cause {
			n++
		}
	}
	return n
}

// requestChecks starts the one round in which a tester writes checks of criteria for work that
// passed, if a round is left.
func requestChecks(t *state.TaskState, a *state.AttemptState, l nexus.Limits, facts AttemptTreeFacts) (RepairStep, bool) {
	asked := a.LastSession(nexus.Tester) != nil && (facts.Unshown == "" || countRounds(a, CriteriaGate) > 0)
	if !facts.Unchecked || asked || !needsTests(t, a, facts) {
		return RepairStep{}, false
	}
	step := beginRound(t, a, l, RepairStep{Role: nexus.Tester, Cause: CriteriaGate})
	return step, step.Move == Write
}

// decideAfterCheckRound decides after a round in which checks of criteria were to be written. The work
// passed before the round and is kept in any case. Useless checks are removed, and the gates
// give the same result for the tree again.
func decideAfterCheckRound(t *state.TaskState, a *state.AttemptState, l nexus.Limits, s *state.AgentSessionState, facts AttemptTreeFacts) RepairStep {
	r, green := a.LastRound(), a.Rounds[max(0, len(a.Rounds)-2)].Verdict
	back := green != nil && a.Snapshot.Tree == green.Tree
	forgo := func(why string) RepairStep { return RepairStep{Move: Forgo, Why: why} }
	switch {
	case back && (r.Verdict == nil || r.Verdict.Tree != green.Tree):
		return RepairStep{Move: Judge}
	case !back && s.Outcome != nexus.Accepted:
		return forgo("its author did not finish: " + cmp.Or(s.Why, string(s.Outcome)))
	case !back && facts.Meddled != "":
		return forgo("it came with a change of " + facts.Meddled + ", which was there before")
	case r.Verdict == nil:
		return RepairStep{Move: Judge}
	case !back && r.Verdict.State == nexus.Fail && facts.Refuted:
		return repairGateFindings(t, a, l)
	case !back && r.Verdict.State != nexus.Pass:
		return forgo("the tree fails with it: " + verdictReason(r.Verdict))
	case len(r.Reviews) > 0:
		return decideAfterReview(t, a, l)
	default:
		return decideAfterGates(t, a, l, facts)
	}
}
