package salvage

import (
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/trail"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Fault is what it was that failed of an attempt.
type Fault string

// What can fail. Only [Idea] says that the way was wrong.
const (
	Idea       Fault = "idea"       // the same failure came again and again, or judges refused it each time
	Check      Fault = "check"      // a check could not tell: the work may be right
	Machine    Fault = "machine"    // what it runs on
	Tests      Fault = "tests"      // those that were to come first
	Judge      Fault = "judge"      // nobody read it
	Blocked    Fault = "blocked"    // its author said that it cannot go on
	Dispute    Fault = "dispute"    // its author and its judge disagree
	Conflict   Fault = "conflict"   // it does not merge with what landed
	Train      Fault = "train"      // it is green alone and red with what landed
	Unfinished Fault = "unfinished" // a limit came first, or its session did not end well
	Nothing    Fault = "nothing"    // nothing was changed
)

// Unchanged is why an attempt ends that changed nothing.
const Unchanged = "nothing was changed, and the gates pass as they did before"

// End is how an attempt ended, for those who try again.
type End struct {
	Attempt nexus.AttemptID
	Fault   Fault
	Why     string
	Revised bool // a person said its criteria anew since
}

// Failed says what failed of an attempt that is over.
func Failed(a *trail.Attempt) Fault {
	switch a.Category {
	case nexus.IsolationViolation, nexus.GreenfieldNoTests:
		return Tests
	case nexus.SessionFailure:
		return Unfinished
	case nexus.Disputed:
		return Dispute
	default:
	}
	r := a.Last()
	switch a.Outcome {
	case nexus.Unverified:
		return untold(a, r)
	case nexus.NoProgress:
		if r != nil && r.Proof != nil && r.Proof.Proof != nexus.ProofRed {
			return Tests
		}
		return Idea
	case nexus.Exhausted:
		if r != nil && (r.Verified != nil && r.Verified.Category != "" || slices.ContainsFunc(r.Reviews, func(v nexus.ReviewGiven) bool { return v.SendsBack })) {
			return Idea
		}
		return Unfinished
	case nexus.GaveUp:
		return Blocked
	case nexus.Conflicted:
		return Conflict
	case nexus.Accepted:
		return Train
	default: // as for one that is broken, and where the environment kept it from being judged
		return Machine
	}
}

// untold says what failed where the gates were green and it did not land.
func untold(a *trail.Attempt, r *trail.Round) Fault {
	switch {
	case a.Why == Unchanged:
		return Nothing
	case a.Category == nexus.VerifierRejected, r != nil && len(r.Reviews) > 0:
		return Judge
	case r != nil && r.Proof != nil && r.Proof.Proof != nexus.ProofRed:
		return Tests
	}
	return Check
}
