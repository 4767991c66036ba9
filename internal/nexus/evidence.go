package nexus

import "github.com/nexus-ai-builder/nexus/internal/nexus/evidence"

// GateState is what a gate found out, see [evidence.GateState]; the others are
// what it says beside.
type (
	GateState = evidence.GateState
	Severity  = evidence.Severity
	Finding   = evidence.Finding
	Counts    = evidence.Counts
	Evidence  = evidence.Evidence
	Flake     = evidence.Flake
	Verdict   = evidence.Verdict
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

// AcceptGate begins the names of gates that show a criterion of one task.
const AcceptGate = evidence.AcceptGate
