package state

import (
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// AttemptFailureCause is the cause of an attempt's failure.
type AttemptFailureCause string

// Only [CauseIdea] means that the approach was wrong.
const (
	// the same failure came again and again, or judges refused the work each time.
	CauseIdea       AttemptFailureCause = "idea"
	CauseCheck      AttemptFailureCause = "check"      // a check had no clear result: the work may be right
	CauseMachine    AttemptFailureCause = "machine"    // the machine or environment
	CauseTests      AttemptFailureCause = "tests"      // the tests that had to be written first
	CauseJudge      AttemptFailureCause = "judge"      // it was not reviewed
	CauseBlocked    AttemptFailureCause = "blocked"    // its author reported that it cannot continue
	CauseDispute    AttemptFailureCause = "dispute"    // its author and its judge disagree
	CauseConflict   AttemptFailureCause = "conflict"   // it does not merge with the landed commits
	CauseTrain      AttemptFailureCause = "train"      // it passes alone and fails together with the landed commits
	CauseUnfinished AttemptFailureCause = "unfinished" // a limit was reached first, or its session did not end well
	CauseNothing    AttemptFailureCause = "nothing"    // nothing was changed
)

// Unchanged is the Why of an attempt that ends without a change.
const Unchanged = "nothing was changed, and the gates pass as before"

// FailureCauseOf returns the cause of failure of an attempt that has ended.
func FailureCauseOf(a *AttemptState) AttemptFailureCause {
	switch a.Category {
	case nexus.IsolationViolation, nexus.GreenfieldNoTests:
		return CauseTests
	case nexus.SessionFailure:
		return CauseUnfinished
	case nexus.Disputed:
		return CauseDispute
	default:
	}
	r := a.LastRound()
	switch a.Outcome {
	case nexus.Unverified:
		return causeOfUnverified(a, r)
	case nexus.NoProgress:
		if r != nil && r.Proof != nil && r.Proof.Proof != nexus.ProofRed {
			return CauseTests
		}
		return CauseIdea
	case nexus.Exhausted:
		if r != nil && (r.Verified != nil && r.Verified.Category != "" || slices.ContainsFunc(r.Reviews, func(v nexus.ReviewerVerdictGiven) bool { return v.SendsBack })) {
			return CauseIdea
		}
		return CauseUnfinished
	case nexus.GaveUp:
		return CauseBlocked
	case nexus.Conflicted:
		return CauseConflict
	case nexus.Accepted:
		return CauseTrain
	default: // as for a broken attempt, and if the environment prevented its judgement
		return CauseMachine
	}
}

// causeOfUnverified returns the cause if the gates passed and it did not land.
func causeOfUnverified(a *AttemptState, r *AttemptRound) AttemptFailureCause {
	switch {
	case a.Why == Unchanged:
		return CauseNothing
	case a.Category == nexus.VerifierRejected, r != nil && len(r.Reviews) > 0:
		return CauseJudge
	case r != nil && r.Proof != nil && r.Proof.Proof != nexus.ProofRed:
		return CauseTests
	}
	return CauseCheck
}
