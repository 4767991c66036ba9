package nexus

import "strings"

// Strategy is the order in which an attempt writes code and tests.
type Strategy string

// The strategies, the strictest first.
const (
	TDDStrict Strategy = "three-session-tdd" // a tester, a coder that may not change tests, a verifier
	TDDLite   Strategy = "tdd-lite"          // the same three, without file restrictions
	TDDSimple Strategy = "tdd-simple"        // one session writes tests, sees them fail, then writes the code
	TestAfter Strategy = "test-after"        // code first, then tests
	NoTest    Strategy = "no-test"           // the task gives the reason
)

// Strategies returns all strategies, the strictest first.
func Strategies() []Strategy {
	return []Strategy{TDDStrict, TDDLite, TDDSimple, TestAfter, NoTest}
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
func (s Strategy) IsKnown() bool {
	switch s {
	case TDDStrict, TDDLite, TDDSimple, TestAfter, NoTest:
		return true
	default:
		return false
	}
}

// UsesSeparateSessions reports whether a tester, a coder and a verifier work one after the other.
func (s Strategy) UsesSeparateSessions() bool { return s == TDDStrict || s == TDDLite }

// NeedsProof reports whether tests must fail before the work and pass after it.
func (s Strategy) NeedsProof() bool { return s.UsesSeparateSessions() || s == TDDSimple }

// TestProof is the result of new tests on a tree without the work that they test.
type TestProof string

// Only [ProofRed] shows that the tests detect the missing work.
const (
	ProofRed    TestProof = "red"    // they fail, for a reason that the work removes
	ProofGreen  TestProof = "green"  // they pass without it
	ProofBroken TestProof = "broken" // they fail for a reason of their own: a syntax error, a missing file
	ProofNone   TestProof = "none"   // there are no new tests
	ProofUnsure TestProof = "unsure" // they could not be run
)

// Category is the reason of an attempt's failure, if it decides the next step.
type Category string

// The zero Category is none of them.
const (
	IsolationViolation Category = "isolation-violation" // a role changed files that it may not change
	SessionFailure     Category = "session-failure"     // a session crashed, or reached its time limit
	TestsFailing       Category = "tests-failing"       // tests fail after all sessions
	VerifierRejected   Category = "verifier-rejected"   // the verifier rejects the work
	GreenfieldNoTests  Category = "greenfield-no-tests" // no test was written
	// the agent submitted that only a person can provide the missing thing.
	PersonNeeded Category = "person-needed"
	// author and judge disagree, and both have repeated their view.
	Disputed    Category = "disputed"
	Resubmitted Category = "resubmitted" // it submitted a tree that was already refused
)

// NeedsPerson reports whether a task that ends with it waits for a person. The other ends are
// mechanical.
func (c Category) NeedsPerson() bool {
	switch c {
	case IsolationViolation, VerifierRejected, GreenfieldNoTests, PersonNeeded, Disputed:
		return true
	default:
		return false
	}
}

// BlockedNeed is the kind of help that a blocked agent asks for. Zero: it named none, and a new
// attempt or a stronger model is tried.
type BlockedNeed string

// NeedsPerson is help that no model can give: a key, an account, a device, a decision, or
// somebody's consent.
const NeedsPerson BlockedNeed = "person"

// CriterionMet is a verifier's judgement of one criterion.
type CriterionMet struct {
	Criterion string `json:"criterion"`
	Met       bool   `json:"met"`
	Note      string `json:"note,omitempty"`
}
