package state

import (
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// FailureCause is the cause of an attempt's failure.
type FailureCause string

// Only [CauseIdea] means that the approach was wrong.
const (
	// the same failure came again and again, or judges refused the work each time.
	CauseIdea       FailureCause = "idea"
	CauseCheck      FailureCause = "check"      // a check had no clear result: the work may be right
	CauseMachine    FailureCause = "machine"    // the machine or environment
	CauseTests      FailureCause = "tests"      // the tests that had to be written first
	CauseJudge      FailureCause = "judge"      // it was not reviewed
	CauseBlocked    FailureCause = "blocked"    // its author reported that it cannot continue
	CauseDispute    FailureCause = "dispute"    // its author and its judge disagree
	CauseConflict   FailureCause = "conflict"   // it does not merge with the landed commits
	CauseTrain      FailureCause = "train"      // it passes alone and fails together with the landed commits
	CauseUnfinished FailureCause = "unfinished" // a limit was reached first, or its session did not end well
	CauseNothing    FailureCause = "nothing"    // nothing was changed
)

// Unchanged is the Why of an attempt that ends without a change.
const Unchanged = "nothing was changed, and the gates pass as before"

// FailureCauseOf returns the cause of failure of an attempt that has ended.
func FailureCauseOf(a *Attempt) FailureCause {
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
		if r != nil && (r.Verified != nil && r.Verified.Category != "" || slices.ContainsFunc(r.Reviews, func(v nexus.ReviewGiven) bool { return v.SendsBack })) {
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
func causeOfUnverified(a *Attempt, r *Round) FailureCause {
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
