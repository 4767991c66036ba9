package nexus

import "strings"

// WritingStrategy is the order in which an attempt writes code and tests.
type WritingStrategy string

// The strategies, the strictest first.
const (
	TDDStrict WritingStrategy = "three-session-tdd" // a tester, a coder that may not change tests, a verifier
	TDDLite   WritingStrategy = "tdd-lite"          // the same three, without file restrictions
	TDDSimple WritingStrategy = "tdd-simple"        // one session writes tests, sees them fail, then writes the code
	TestAfter WritingStrategy = "test-after"        // code first, then tests
	NoTest    WritingStrategy = "no-test"           // the task gives the reason
)

// Strategies returns all strategies, the strictest first.
func Strategies() []WritingStrategy {
	return []WritingStrategy{TDDStrict, TDDLite, TDDSimple, TestAfter, NoTest}
}

// JoinWords returns words joined by commas.
func JoinWords[T ~string](words []T) string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = string(w)
	}
	return strings.Join(all, ", ")
}

// IsKnown reports whether s is one of [Strategies].
func (s WritingStrategy) IsKnown() bool {
	switch s {
	case TDDStrict, TDDLite, TDDSimple, TestAfter, NoTest:
		return true
	default:
		return false
	}
}

// UsesSeparateSessions reports whether a tester, a coder and a verifier work one after the other.
func (s WritingStrategy) UsesSeparateSessions() bool { return s == TDDStrict || s == TDDLite }

// NeedsProof reports whether tests must fail before the work and pass after it.
func (s WritingStrategy) NeedsProof() bool { return s.UsesSeparateSessions() || s == TDDSimple }

// TestProofResult is the result of new tests on a tree without the work that they test.
type TestProofResult string

// Only [ProofRed] shows that the tests detect the missing work.
const (
	ProofRed    TestProofResult = "red"    // they fail, for a reason that the work removes
	ProofGreen  TestProofResult = "green"  // they pass without it
	ProofBroken TestProofResult = "broken" // they fail for a reason of their own: a syntax error, a missing file
	ProofNone   TestProofResult = "none"   // there are no new tests
	ProofUnsure TestProofResult = "unsure" // they could not be run
)

// AttemptFailureCategory is the reason of an attempt's failure, if it decides the next step.
type AttemptFailureCategory string

// The zero value is none of them.
const (
	IsolationViolation AttemptFailureCategory = "isolation-violation" // a role changed files that it may not change
	SessionFailure     AttemptFailureCategory = "session-failure"     // a session crashed, or reached its time limit
	TestsFailing       AttemptFailureCategory = "tests-failing"       // tests fail after all sessions
	VerifierRejected   AttemptFailureCategory = "verifier-rejected"   // the verifier rejects the work
	GreenfieldNoTests  AttemptFailureCategory = "greenfield-no-tests" // no test was written
	// the agent submitted that only a person can provide the missing thing.
	PersonNeeded AttemptFailureCategory = "person-needed"
	// author and judge disagree, and both have repeated their view.
	Disputed    AttemptFailureCategory = "disputed"
	Resubmitted AttemptFailureCategory = "resubmitted" // it submitted a tree that was already refused
)

// NeedsPerson reports whether a task that ends with it waits for a person. The other ends are
// mechanical.
func (c AttemptFailureCategory) NeedsPerson() bool {
	switch c {
	case IsolationViolation, VerifierRejected, GreenfieldNoTests, PersonNeeded, Disputed:
		return true
	default:
		return false
	}
}

// BlockedAgentNeed is the kind of help that a blocked agent asks for. Zero: it named none, and a new
// attempt or a stronger model is tried.
type BlockedAgentNeed string

// NeedsPerson is help that no model can give: a key, an account, a device, a decision, or
// somebody's consent.
const NeedsPerson BlockedAgentNeed = "person"

// CriterionJudgement is a verifier's judgement of one criterion.
type CriterionJudgement struct {
	Criterion string `json:"criterion"`
	Met       bool   `json:"met"`
	Note      string `json:"note,omitempty"`
}
