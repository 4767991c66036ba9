package nexus

import (
	"slices"
	"time"
)

// GateState is the result of a gate. Only [Pass] is a pass.
type GateState string

// Values of GateState.
const (
	NotRun GateState = "not-run" // nothing configured, zero tests
	Pass   GateState = "pass"
	Fail   GateState = "fail"
	// the machine is at fault, not the tree: a missing tool, a full disk, red although every
	// test passed.
	Environmental GateState = "environmental"
	Timeout       GateState = "timeout"
	// something that it needs, such as installed dependencies, cannot be had.
	MissingAsset GateState = "missing-asset"
	Flaky        GateState = "flaky"        // tests failed, and passed when they were run again
	Unverifiable GateState = "unverifiable" // it ran, and its output cannot be interpreted
	Exceeded     GateState = "exceeded"     // it exceeded a resource limit and was killed
)

// IsRed reports whether a gate's result counts against the tree: it failed, did not end, or
// exceeded a resource limit.
func (s GateState) IsRed() bool { return s == Fail || s == Timeout || s == Exceeded }

// SecretsGate searches the lines that a change adds for secrets.
const SecretsGate = "secrets"

// AcceptGate starts the names of gates that check a criterion of one task.
const AcceptGate = "accept: "

// StepGate starts the names of gates that are steps of the pipeline.
const StepGate = "pipeline-"

// StepCause starts the causes of rounds in which an editor does a step of the pipeline.
const StepCause = "step: "

// Severity is how much a finding matters.
type Severity string

// The severities, worst first.
const (
	Critical   Severity = "critical"
	Major      Severity = "major"
	Minor      Severity = "minor"
	Suggestion Severity = "suggestion"
)

// Finding is one problem that a gate or a reviewer found.
type Finding struct {
	Gate      string   `json:"gate,omitzero"`
	File      string   `json:"file,omitzero"` // relative to the root, slash-separated
	Line      int      `json:"line,omitzero"` // from 1; 0 is unknown
	Column    int      `json:"column,omitzero"`
	EndLine   int      `json:"end_line,omitzero"` // last line, as the tool counts
	EndColumn int      `json:"end_column,omitzero"`
	Severity  Severity `json:"severity,omitzero"` // zero counts as major
	Code      string   `json:"code,omitzero"`     // the tool's own name for the class
	Message   string   `json:"message"`
	Test      string   `json:"test,omitzero"`     // package and name of the failing test
	Expected  string   `json:"expected,omitzero"` // the value that the test expected, if the tool reports it
	Actual    string   `json:"actual,omitzero"`
	Stack     string   `json:"stack,omitzero"` // stack trace, innermost first
	Advice    string   `json:"advice,omitzero"`

	// For a removal in the change, which a submission must explain by name.

	// name under which a submission explains it; empty: no explanation needed
	Name      string `json:"name,omitzero"`
	Explained string `json:"explained,omitzero"` // the explanation in the submission

	// Set by reviewers.
	Category string `json:"category,omitzero"` // correctness, security, tests, ...
	// the reviewer who found it, if there are several; comma-separated if several found it
	Persona    string `json:"persona,omitzero"`
	Quote      string `json:"quote,omitzero"`      // the text of the code
	Unverified string `json:"unverified,omitzero"` // why it does not block: the code that it quotes does not exist
}

// RemovalExplanation is a submission's explanation of a removal in its change.
type RemovalExplanation struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// FindingAnswer is an author's answer to a finding that it received.
type FindingAnswer struct {
	Finding int                 `json:"finding"` // number from 1, in the order in which it received them; 0: all of them
	Status  FindingAnswerStatus `json:"status"`
	Why     string              `json:"why,omitzero"`

	Comment string `json:"comment,omitzero"` // a person's comment that it answers instead of a finding
}

// FindingAnswerStatus is the author's statement of how it handled a finding.
type FindingAnswerStatus string

// Unknown replies are shown to the judges unchanged.
const (
	Fixed     FindingAnswerStatus = "fixed"
	Contested FindingAnswerStatus = "disputed" // it is wrong: the judge decides again, with the reason in view
	NotMine   FindingAnswerStatus = "not_mine" // the author may not fix it
)

// TestCounts are the numbers of tests that a gate ran.
type TestCounts struct {
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
}

// GateEvidence is the record of a gate's run on an exact tree, and its result. The zero Evidence
// proves nothing.
type GateEvidence struct {
	Gate      string           `json:"gate"`
	State     GateState        `json:"state"`
	Tree      string           `json:"tree"`               // git tree that was judged
	Command   string           `json:"command,omitzero"`   // the command as run, for people
	Exit      int              `json:"exit"`               // -1 if it did not exit by itself
	Duration  time.Duration    `json:"duration"`           // wall time
	Counts    TestCounts       `json:"counts,omitzero"`    // zero if the gate runs no tests
	Toolchain string           `json:"toolchain,omitzero"` // versions that the result depends on
	Output    string           `json:"output,omitzero"`    // blob with its output
	Why       string           `json:"why,omitzero"`       // why the state is neither pass nor fail
	Findings  []Finding        `json:"findings,omitempty"`
	All       string           `json:"all,omitzero"`    // blob with all findings, if the list here is cut
	Flaky     []FlakyTestCount `json:"flaky,omitempty"` // tests whose failure does not count against the tree
	// tests that failed on the base too, so that new failures in them cannot be recognized
	Unsure []string `json:"unsure,omitempty"`
	// tests and other findings with the same result as on the base: they do not count against
	// the tree, and do not pass either
	Old []string `json:"old,omitempty"`
	// tests that showed criteria and that are missing in the runner's list of passed tests
	Missing []string `json:"missing,omitempty"`
	// blob with each test and its result, if the runner lists them
	Named string `json:"named,omitzero"`
	// git tree of the base that it was compared with, if the comparison changed it
	Base string `json:"base,omitzero"`
	Raw  string `json:"raw,omitzero"` // blob with the evidence before the comparison
	// the exceeded resource, if that ended it: memory, cpu, disk or processes
	Over string `json:"over,omitzero"`
	// it did not end, and did not on the base either: not a pass, but it does not count
	// against the tree if other gates judge it
	Hangs bool `json:"hangs,omitzero"`

	Optional bool `json:"optional,omitzero"` // it is reported, and counts neither for nor against the tree

	Apart bool `json:"apart,omitzero"` // it was not run, because the change does not affect it

	Coverage *TestCoverage `json:"coverage,omitempty"` // nil if coverage was not measured
}

// NoTests is the Why of a gate that ran no test and therefore shows nothing.
const NoTests = "no test ran"

// Blobs returns the hashes of its stored outputs, with empty strings for missing ones.
func (e GateEvidence) Blobs() []string { return []string{e.Output, e.All, e.Named, e.Raw} }

// FlakyTestCount is a test that failed and passed on the same tree.
type FlakyTestCount struct {
	Test   string `json:"test"`
	Failed int    `json:"failed"`
	Runs   int    `json:"runs"`
	Base   bool   `json:"base,omitzero"` // it was flaky on the base, although it failed each time now

	// why, and until when, people quarantined it, so that its failure does not count; it may
	// have failed each time
	Quarantine string `json:"quarantine,omitzero"`
}

// MoreFindings is the code of a finding that stands for the findings that were cut.
const MoreFindings = "more"

// IncomparableReason returns why nothing can be compared with the evidence of a base, or "" if old
// and new failures can be told apart.
func (e GateEvidence) IncomparableReason() string {
	switch {
	case e.State == Pass, e.State == Flaky:
		return ""
	case e.State != Fail:
		return "nothing can be compared with it"
	case e.All == "" && slices.ContainsFunc(e.Findings, func(f Finding) bool { return f.Code == MoreFindings }):
		return "it finds too much to compare, so what was there before counts against the work"
	}
	return ""
}

// Passed reports whether the gate ran on the tree and found nothing.
func (e GateEvidence) Passed() bool { return e.State == Pass && e.Tree != "" }

// HasHung reports whether the gate did not end: it timed out, or its tests had ended and its
// runner had not.
func (e GateEvidence) HasHung() bool {
	return e.State == Timeout || e.State == Environmental && e.WasRunnerStopped()
}

// WasRunnerStopped reports whether the gate's runner was killed because it kept running after its
// tests, whatever its state.
func (e GateEvidence) WasRunnerStopped() bool {
	return slices.ContainsFunc(e.Findings, func(f Finding) bool { return f.Code == "hang" })
}

// EvidenceOfGate returns the evidence of a gate, or zero Evidence if there is none.
func EvidenceOfGate(all []GateEvidence, gate string) (e GateEvidence) {
	if i := slices.IndexFunc(all, func(e GateEvidence) bool { return e.Gate == gate }); i >= 0 {
		e = all[i]
	}
	return e
}

// GatesVerdict is the combined result of the gates for a tree.
type GatesVerdict struct {
	Passed   bool           `json:"passed"`
	Tree     string         `json:"tree"`
	Evidence []GateEvidence `json:"evidence,omitempty"`
	Why      string         `json:"why,omitzero"` // why it did not pass
}

// AllFindings returns the problems that all gates found, in the order of the gates.
func (v GatesVerdict) AllFindings() []Finding {
	var all []Finding
	for _, e := range v.Evidence {
		if e.State == Pass {
			continue // an optional gate's findings need no fix
		}
		all = append(all, e.Findings...)
	}
	return all
}

// WarmUpGate is the name of the compile step before the gates of a base. It is not a gate:
// its start is recorded, and it is never judged.
const WarmUpGate = "warm-up"

// MutationGate is the name of the gate that measures whether tests detect injected faults.
const MutationGate = "mutation"
