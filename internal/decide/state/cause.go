package state

import (
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Cause is what it was that failed of an attempt.
type Cause string

// What can fail. Only [CauseIdea] says that the way was wrong.
const (
	CauseIdea       Cause = "idea"       // the same failure came again and again, or judges refused it each time
	CauseCheck      Cause = "check"      // a check could not tell: the work may be right
	CauseMachine    Cause = "machine"    // what it runs on
	CauseTests      Cause = "tests"      // those that were to come first
	CauseJudge      Cause = "judge"      // nobody read it
	CauseBlocked    Cause = "blocked"    // its author said that it cannot continue
	CauseDispute    Cause = "dispute"    // its author and its judge disagree
	CauseConflict   Cause = "conflict"   // it does not merge with what landed
	CauseTrain      Cause = "train"      // it is green alone and red with what landed
	CauseUnfinished Cause = "unfinished" // a limit came first, or its session did not end well
	CauseNothing    Cause = "nothing"    // nothing was changed
)

// Unchanged is why an attempt ends that changed nothing.
const Unchanged = "nothing was changed, and the gates pass as before"

// CauseOf says what failed of an attempt that is over.
func CauseOf(a *Attempt) Cause {
	switch a.Category {
	case nexus.IsolationViolation, nexus.GreenfieldNoTests:
		return CauseTests
	case nexus.SessionFailure:
		return CauseUnfinished
	case nexus.Disputed:
		return CauseDispute
	default:
	}
	r := a.Last()
	switch a.Outcome {
	case nexus.Unverified:
		return untold(a, r)
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

// untold says what failed where the gates were green and it did not land.
func untold(a *Attempt, r *Round) Cause {
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
