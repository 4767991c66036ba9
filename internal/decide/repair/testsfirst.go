package repair

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ProofGate is the cause of a round that fixes tests that prove nothing, and VerifyGate the
// cause of one that fixes a verifier's findings.
const (
	ProofGate  = "proof"
	VerifyGate = "verify"
)

// decideAfterTestsFirstRound decides until the tests that judge the work exist and were seen to fail: only
// then is the code written.
func decideAfterTestsFirstRound(t *state.TaskState, a *state.AttemptState, l nexus.Limits, facts AttemptTreeFacts) RepairStep {
	r := a.LastRound()
	switch {
	case r == nil && a.From != "" && !facts.Tested:
		return RepairStep{Move: Afresh, Why: "it has no tests, and tests come first now"}
	case r == nil && a.From != "" && a.Proof != nil && !hasTestsSeenFailing(a):
		return RepairStep{Move: Afresh, Why: "its tests do not fail without the work in its current form: " + cmp.Or(a.Proof.Why, string(a.Proof.Proof))}
	case r == nil && !facts.Tested:
		return beginRound(t, a, l, RepairStep{Role: nexus.Tester})
	case r == nil && a.Proof == nil, r != nil && r.Proof == nil && !brokeStrictRules(a, r):
		return RepairStep{Move: Prove} // of tests that an earlier attempt left, or that were written now
	case r != nil && r.Proof == nil:
		b := r.Broken[len(r.Broken)-1]
		return RepairStep{
			Move: End, Outcome: nexus.NoProgress, Category: nexus.IsolationViolation,
			Why: fmt.Sprintf("the %s changed more than tests, and that was undone: %s", b.Role, strings.Join(b.Files, ", ")),
		}
	case a.Proof.Proof == nexus.ProofRed && r == nil && facts.Ready:
		return judgeStartingTree(t, a, l, RepairStep{Role: nexus.Coder})
	case a.Proof.Proof == nexus.ProofRed:
		return beginRound(t, a, l, RepairStep{Role: nexus.Coder})
	default:
		return fixUnprovenTests(t, a, l, nexus.Tester)
	}
}

// brokeStrictRules reports whether a role changed a file that the strict strategy forbids.
func brokeStrictRules(a *state.AttemptState, r *state.AttemptRound) bool {
	if a.Strategy != nexus.TDDStrict {
		return false
	}
	for _, b := range r.Broken {
		if len(b.Files) > 0 {
			return true
		}
	}
	return false
}

// fixUnprovenTests starts a round in which a role fixes tests that prove nothing, if that may help.
// A role is asked for a test at most twice.
func fixUnprovenTests(t *state.TaskState, a *state.AttemptState, l nexus.Limits, role nexus.Role) RepairStep {
	p := a.Proof
	why := cmp.Or(p.Why, "the new tests prove nothing: "+string(p.Proof))
	n := 0
	for _, r := range a.Rounds {
		if r.Proof != nil && r.Proof.Proof == p.Proof {
			n++
		}
	}
	same := max(2, l.Same)
	switch {
	case p.Proof == nexus.ProofUnsure:
		return RepairStep{Move: End, Outcome: nexus.Inapplicable, Why: why}
	case p.Proof == nexus.ProofNone && n >= 2:
		return RepairStep{Move: End, Outcome: nexus.NoProgress, Category: nexus.GreenfieldNoTests, Why: why}
	case p.Proof == nexus.ProofGreen && n >= same:
		return RepairStep{Move: End, Outcome: nexus.Unverified, Why: fmt.Sprintf("%s, %d times: the work may be there already", why, n)}
	case n >= same:
		return RepairStep{Move: End, Outcome: nexus.NoProgress, Category: nexus.TestsFailing, Why: fmt.Sprintf("%s, %d times", why, n)}
	}
	return beginRound(t, a, l, RepairStep{Role: role, Cause: ProofGate, Findings: p.Findings, Why: why})
}

// proveOwnTests returns the step that proves the tests that came with the work.
func proveOwnTests(t *state.TaskState, a *state.AttemptState, l nexus.Limits) RepairStep {
	if a.LastRound().Proof == nil {
		return RepairStep{Move: Prove}
	}
	return fixUnprovenTests(t, a, l, nexus.Coder)
}

// verifyOrReview starts a review of a tree that the gates passed. A verifier comes first if
// the tests were written first, if the change touches its tests and gates, if only reading
// can show a criterion, or if a verifier refused the work before; then a reviewer. Without a
// verdict the gates decide, unless the change touched them or a refusal is still valid.
func verifyOrReview(t *state.TaskState, a *state.AttemptState, l nexus.Limits, facts AttemptTreeFacts) RepairStep {
	r := a.LastRound()
	v := r.Verified
	stands, reading := isRefusedByVerifier(t, a), isShownByReading(a)
	switch {
	case r.Suspect == nil && !reading && !a.Strategy.UsesSeparateSessions() && !stands, v != nil && v.Read && v.Category == "":
		return RepairStep{Move: Review}
	case v == nil && isApprovedBefore(t, a, facts):
		return RepairStep{Move: Review}
	case v == nil:
		return RepairStep{Move: Verify}
	case !v.Read && (r.Suspect != nil || stands || reading):
		why := "it changes its own tests or gates, and no verifier approved that"
		switch {
		case r.Suspect != nil:
		case reading:
			why = "no test can show it, and no verifier read the change"
		}
		if stands {
			why = "a verifier rejected the work, and none has approved it since"
		}
		return RepairStep{
			Move: End, Outcome: nexus.Unverified, Category: nexus.VerifierRejected,
			Why: fmt.Sprintf("%s: %s", why, cmp.Or(v.Why, "no verdict")),
		}
	case !v.Read:
		return RepairStep{Move: Review}
	}
	if step, ok := endDisagreement(a, VerifyGate); ok {
		return step
	}
	if n := countRefusals(a); l.ReviewRounds > 0 && n >= l.ReviewRounds {
		return RepairStep{Move: End, Outcome: nexus.Exhausted, Category: v.Category, Why: fmt.Sprintf("rejected by the verifier %d times: %s", n, v.Why)}
	}
	return startJudgeFixRound(t, a, l, VerifyGate, v.Findings, v.Why)
}

// isShownByReading reports whether a criterion of the last tree is about comments or documents,
// which a verifier judges instead of tests.
func isShownByReading(a *state.AttemptState) bool {
	r := a.LastRound()
	return r.Verdict != nil && r.Verdict.Tree == a.Weighed.Tree && slices.ContainsFunc(a.Weighed.Criteria, func(s nexus.CriterionGateEvidence) bool { return s.By == nexus.ReadBearing })
}

// isApprovedBefore reports whether a verifier approved the same tree in an earlier round, for
// example if only a reviewer's finding was disputed since. The verifier is not paid again
// then, unless people asked for something since.
func isApprovedBefore(t *state.TaskState, a *state.AttemptState, facts AttemptTreeFacts) bool {
	r := a.LastRound()
	for _, o := range slices.Backward(a.Rounds[:len(a.Rounds)-1]) {
		if v := o.Verified; v != nil && v.Read {
			return v.Category == "" && v.Tree == r.Verdict.Tree && v.Tree != "" && o.Base == r.Base && len(v.Criteria) == len(t.Criteria)+facts.Asked
		}
	}
	return false
}

// isRefusedByVerifier reports whether a verifier refused the work on a task, in this or an earlier
// attempt, and no verifier has approved it since.
func isRefusedByVerifier(t *state.TaskState, a *state.AttemptState) bool {
	for _, r := range slices.Backward(a.Rounds) {
		if v := r.Verified; v != nil && v.Read {
			return v.Category != ""
		}
	}
	return len(t.Refused) > 0
}

// hasTestsSeenFailing reports whether tests of the attempt were seen to fail.
func hasTestsSeenFailing(a *state.AttemptState) bool {
	return a.Proof != nil && a.Proof.Proof == nexus.ProofRed
}

func countRefusals(a *state.AttemptState) int {
	n := 0
	for _, r := range a.Rounds {
		if r.Verified != nil && r.Verified.Category != "" {
			n++
		}
	}
	return n
}

// sessionFailure returns the category of a session that did not submit. A tester that cannot write
// tests without touching code counts like one that touched it.
func sessionFailure(a *state.AttemptState, r *state.AttemptRound, s *state.AgentSessionState) nexus.AttemptFailureCategory {
	switch o := s.Outcome; {
	case o == nexus.GaveUp && s.Needs == nexus.NeedsPerson:
		return nexus.PersonNeeded
	case o == nexus.GaveUp && r.Role == nexus.Tester && a.Strategy == nexus.TDDStrict:
		return nexus.IsolationViolation
	case o == nexus.GaveUp:
		return ""
	default:
		return nexus.SessionFailure
	}
}
