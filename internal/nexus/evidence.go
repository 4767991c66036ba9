package nexus

import "github.com/nexus-ai-builder/nexus/internal/nexus/evidence"

// The words of evidence, at home in [evidence].
type (
	// GateState is what a gate found out.
	GateState = evidence.GateState
	// Severity is how much a finding matters.
	Severity = evidence.Severity
	// Finding is one thing that a gate found wrong.
	Finding = evidence.Finding
	// Answer is what an author says about a finding that it was told.
	Answer = evidence.Answer
	// Reply is what became of a finding, as its author says.
	Reply = evidence.Reply
	// Explanation is what a submission says about something that it takes away.
	Explanation = evidence.Explanation
	// Counts are the tests that a gate saw.
	Counts = evidence.Counts
	// Evidence is what a gate ran on an exact tree, and what came of it.
	Evidence = evidence.Evidence
	// Flake is a test that failed and passed on one and the same tree.
	Flake = evidence.Flake
	// Verdict is what the gates say in sum about a tree.
	Verdict = evidence.Verdict
	// Coverage is what tests go through.
	Coverage = evidence.Coverage
)

// The states of a gate. Only [Pass] is a pass.
const (
	NotRun        = evidence.NotRun
	Pass          = evidence.Pass
	Fail          = evidence.Fail
	Environmental = evidence.Environmental
	Timeout       = evidence.Timeout
	MissingAsset  = evidence.MissingAsset
	Flaky         = evidence.Flaky
	Unverifiable  = evidence.Unverifiable
)

// The severities, worst first.
const (
	Critical   = evidence.Critical
	Major      = evidence.Major
	Minor      = evidence.Minor
	Suggestion = evidence.Suggestion
)

// The replies to a finding.
const (
	Fixed     = evidence.Fixed
	Contested = evidence.Contested
	NotMine   = evidence.NotMine
)

// AcceptGate begins the names of gates that show a criterion of one task.
const AcceptGate = evidence.AcceptGate

// WarmUpGate is the name of what compiles before the gates of a base run. It is
// no gate: it is started, and never judged.
const WarmUpGate = "warm-up"

// MutationGate is the name of what says whether tests notice faults.
const MutationGate = "mutation"
