package nexus

import "strings"

// Strategy is the order in which an attempt writes code and tests.
type Strategy string

// The strategies, the strictest first.
const (
	TDDStrict Strategy = "three-session-tdd" // a tester, a coder who may not touch tests, a verifier
	TDDLite   Strategy = "tdd-lite"          // the same three, and nobody is kept from a file
	TDDSimple Strategy = "tdd-simple"        // one session writes tests, sees them red, then the code
	TestAfter Strategy = "test-after"        // code first, then tests
	NoTest    Strategy = "no-test"           // the task says why it needs none
)

// Strategies returns all of them, the strictest first.
func Strategies() []Strategy {
	return []Strategy{TDDStrict, TDDLite, TDDSimple, TestAfter, NoTest}
}

// Join returns words one after the other, with commas.
func Join[T ~string](words []T) string {
	all := make([]string, len(words))
	for i, w := range words {
		all[i] = string(w)
	}
	return strings.Join(all, ", ")
}

// Known reports whether s is one of them.
func (s Strategy) Known() bool {
	switch s {
	case TDDStrict, TDDLite, TDDSimple, TestAfter, NoTest:
		return true
	default:
		return false
	}
}

// Sessions reports whether a tester, a coder and a verifier work one after
// the other.
func (s Strategy) Sessions() bool { return s == TDDStrict || s == TDDLite }

// Proves reports whether tests must be seen red before the work, and green
// after it.
func (s Strategy) Proves() bool { return s.Sessions() || s == TDDSimple }

// Proof is what was seen of new tests where the work that they judge was not
// there.
type Proof string

// The proofs. Only [ProofRed] shows that the tests can tell.
const (
	ProofRed    Proof = "red"    // they fail, for a reason that the work takes away
	ProofGreen  Proof = "green"  // they pass without it
	ProofBroken Proof = "broken" // they fail for a reason of their own: a syntax error, a missing file
	ProofNone   Proof = "none"   // there are none
	ProofUnsure Proof = "unsure" // they could not be run
)

// Category records why an attempt failed, as far as that decides what follows.
type Category string

// The categories. Zero is none of them.
const (
	IsolationViolation Category = "isolation-violation" // a role changed what it may not
	SessionFailure     Category = "session-failure"     // a session crashed, or its time was over
	TestsFailing       Category = "tests-failing"       // red after all sessions
	VerifierRejected   Category = "verifier-rejected"   // the verifier says no
	GreenfieldNoTests  Category = "greenfield-no-tests" // nobody wrote a test
	PersonNeeded       Category = "person-needed"       // the agent submitted that only a person can give what it lacks
	Disputed           Category = "disputed"            // its author and its judge disagree, and both said so twice
	Resubmitted        Category = "resubmitted"         // it submitted a tree that was refused before
)

// NeedsPerson reports whether a task that ends with it waits for a person; the
// other ends are mechanical.
func (c Category) NeedsPerson() bool {
	switch c {
	case IsolationViolation, VerifierRejected, GreenfieldNoTests, PersonNeeded, Disputed:
		return true
	default:
		return false
	}
}

// Needs says what an agent that is blocked asks for. Zero: it did not say, and
// a fresh attempt or a stronger model is tried.
type Needs string

// NeedsPerson is the one thing that no model can give: a key, an account, a
// device, a decision, or somebody's consent.
const NeedsPerson Needs = "person"

// CriterionMet is what a verifier says about one criterion.
type CriterionMet struct {
	Criterion string `json:"criterion"`
	Met       bool   `json:"met"`
	Note      string `json:"note,omitempty"`
}
