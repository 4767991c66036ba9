package state

import (
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// FailureCause is what it was that failed of an attempt.
type FailureCause string

// What can fail. Only [CauseIdea] says that the way was wrong.
const (
	CauseIdea       FailureCause = "idea"       // the same failure came again and again, or judges refused it each time
	CauseCheck      FailureCause = "check"      // a check could not tell: the work may be right
	CauseMachine    FailureCause = "machine"    // what it runs on
	CauseTests      FailureCause = "tests"      // those that were to come first
	CauseJudge      FailureCause = "judge"      // nobody read it
	CauseBlocked    FailureCause = "blocked"    // its author said that it cannot continue
	CauseDispute    FailureCause = "dispute"    // its author and its judge disagree
	CauseConflict   FailureCause = "conflict"   // it does not merge with what landed
	CauseTrain      FailureCause = "train"      // it is green alone and red with what landed
	CauseUnfinished FailureCause = "unfinished" // a limit came first, or its session did not end well
	CauseNothing    FailureCause = "nothing"    // nothing was changed
)

// Unchanged is why an attempt ends that changed nothing.
const Unchanged = "nothing was changed, and the gates pass as before"

// FailureCauseOf says what failed of an attempt that is over.
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
	default: // as for one that is broken, and where the environment kept it from being judged
		return CauseMachine
	}
}

// causeOfUnverified says what failed where the gates were green and it did not land.
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
