package nexus

import (
	"slices"
	"time"
)

// GateState is what a gate found out. Only [Pass] is a pass.
type GateState string

// The states of a gate.
const (
	NotRun        GateState = "not-run" // nothing configured, zero tests
	Pass          GateState = "pass"
	Fail          GateState = "fail"
	Environmental GateState = "environmental" // the machinery is at fault, not the tree: a tool is missing, no room, red though every test passed
	Timeout       GateState = "timeout"
	MissingAsset  GateState = "missing-asset" // what it needs, such as installed dependencies, cannot be had
	Flaky         GateState = "flaky"         // tests failed, and passed when they were tried again
	Unverifiable  GateState = "unverifiable"  // it ran and cannot be understood
	Exceeded      GateState = "exceeded"      // it used more of the machine than it may, and was killed
)

// Red reports whether a gate speaks against the tree: it failed, did not end,
// or used more of the machine than it may.
func (s GateState) Red() bool { return s == Fail || s == Timeout || s == Exceeded }

// SecretsGate looks for secrets in what a change adds.
const SecretsGate = "secrets"

// AcceptGate begins the names of gates that show a criterion of one task.
const AcceptGate = "accept: "

// StepGate begins the names of gates that are steps of the pipeline.
const StepGate = "pipeline-"

// StepCause begins the causes of rounds in which an editor does a step of the pipeline.
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

// Finding is one thing that a gate found wrong.
type Finding struct {
	Gate      string   `json:"gate,omitzero"`
	File      string   `json:"file,omitzero"` // relative to the root, slash-separated
	Line      int      `json:"line,omitzero"` // from 1; 0 is unknown
	Column    int      `json:"column,omitzero"`
	EndLine   int      `json:"end_line,omitzero"` // where it ends, as the tool counts
	EndColumn int      `json:"end_column,omitzero"`
	Severity  Severity `json:"severity,omitzero"` // zero counts as major
	Code      string   `json:"code,omitzero"`     // the tool's own name for the class
	Message   string   `json:"message"`
	Test      string   `json:"test,omitzero"`     // package and name of the failing test
	Expected  string   `json:"expected,omitzero"` // what the test wanted, where the tool says so
	Actual    string   `json:"actual,omitzero"`
	Stack     string   `json:"stack,omitzero"` // where it was then, innermost first
	Advice    string   `json:"advice,omitzero"`

	// What a change takes away is explained by name.
	Name      string `json:"name,omitzero"`      // by which a submission explains it; empty: nothing is to be explained
	Explained string `json:"explained,omitzero"` // why it is so, as the submission says

	// What a reviewer adds.
	Category   string `json:"category,omitzero"`   // correctness, security, tests, ...
	Persona    string `json:"persona,omitzero"`    // who found it, where several read; with commas where several did
	Quote      string `json:"quote,omitzero"`      // what is there
	Unverified string `json:"unverified,omitzero"` // why it does not block: what it names is not there
}

// Explanation is what a submission says about something that its change takes
// away.
type Explanation struct {
	Name string `json:"name"`
	Why  string `json:"why"`
}

// Answer is what an author says about a finding that it was told.
type Answer struct {
	Finding int    `json:"finding"` // from 1, in the order in which it was told; 0: all of them
	Status  Reply  `json:"status"`
	Why     string `json:"why,omitzero"`

	Comment string `json:"comment,omitzero"` // the comment of a person that it answers instead
}

// Reply is what became of a finding, as its author says.
type Reply string

// The replies. Others are shown to the judges as they are.
const (
	Fixed     Reply = "fixed"
	Contested Reply = "disputed" // it is wrong: the judge is to judge it, with the reason in view
	NotMine   Reply = "not_mine" // the author may not fix it
)

// Counts are the tests that a gate saw.
type Counts struct {
	Passed  int `json:"passed"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
}

// Evidence is what a gate ran on an exact tree, and what came of it. The zero
// Evidence proves nothing.
type Evidence struct {
	Gate      string        `json:"gate"`
	State     GateState     `json:"state"`
	Tree      string        `json:"tree"`               // git tree that was judged
	Command   string        `json:"command,omitzero"`   // as run, for people
	Exit      int           `json:"exit"`               // -1 when it did not exit by itself
	Duration  time.Duration `json:"duration"`           // wall time
	Counts    Counts        `json:"counts,omitzero"`    // zero where the gate runs no tests
	Toolchain string        `json:"toolchain,omitzero"` // versions that the result depends on
	Output    string        `json:"output,omitzero"`    // blob with what it printed
	Why       string        `json:"why,omitzero"`       // why a state other than pass or fail
	Findings  []Finding     `json:"findings,omitempty"`
	All       string        `json:"all,omitzero"`      // blob with all findings, where these are not all
	Flaky     []Flake       `json:"flaky,omitempty"`   // tests whose failure does not count against the tree
	Unsure    []string      `json:"unsure,omitempty"`  // tests that were red on the base, whose failure cannot be told from that one
	Old       []string      `json:"old,omitempty"`     // tests, and other findings, that are as they were on the base: they do not count against the tree, and do not pass either
	Missing   []string      `json:"missing,omitempty"` // tests that showed criteria and that the runner, which names those that pass, does not name
	Named     string        `json:"named,omitzero"`    // blob with each test and how it ended, where the runner says so
	Base      string        `json:"base,omitzero"`     // git tree of the base that it was weighed against, where that changed it
	Raw       string        `json:"raw,omitzero"`      // blob with the evidence as it was before that
	Over      string        `json:"over,omitzero"`     // what it used too much of, if that ended it: memory, cpu, disk or processes
	Hangs     bool          `json:"hangs,omitzero"`    // it did not end, and did not on the base either: no pass, but it does not count against the tree if others judge it

	Optional bool `json:"optional,omitzero"` // it is reported, and counts neither for nor against the tree

	Apart bool `json:"apart,omitzero"` // it was not run, because the change does not concern it

	Coverage *Coverage `json:"coverage,omitempty"` // where somebody measured what tests go through
}

// NoTests is why a gate that ran no test at all says nothing.
const NoTests = "no test ran"

// Blobs returns the hashes of what was kept of it, empty for what was not.
func (e Evidence) Blobs() []string { return []string{e.Output, e.All, e.Named, e.Raw} }

// Flake is a test that failed and passed on one and the same tree.
type Flake struct {
	Test   string `json:"test"`
	Failed int    `json:"failed"`
	Runs   int    `json:"runs"`
	Base   bool   `json:"base,omitzero"` // seen on the base, while it was red each time now

	Quarantine string `json:"quarantine,omitzero"` // why, and until when, people let its failure not count; it may have failed each time
}

// MoreFindings is the code of a finding that stands for those left out.
const MoreFindings = "more"

// Incomparable says why nothing can be compared with evidence of a base. It is
// empty where old and new failures can be told apart.
func (e Evidence) Incomparable() string {
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
func (e Evidence) Passed() bool { return e.State == Pass && e.Tree != "" }

// Hung reports whether the gate did not end: it was out of time, or its tests
// had ended and its runner had not.
func (e Evidence) Hung() bool {
	return e.State == Timeout || e.State == Environmental && e.Lingered()
}

// Lingered reports whether the gate's runner was ended when its tests had,
// whatever that made of its state.
func (e Evidence) Lingered() bool {
	return slices.ContainsFunc(e.Findings, func(f Finding) bool { return f.Code == "hang" })
}

// EvidenceOf returns what a gate said, and nothing where it said nothing.
func EvidenceOf(all []Evidence, gate string) (e Evidence) {
	if i := slices.IndexFunc(all, func(e Evidence) bool { return e.Gate == gate }); i >= 0 {
		e = all[i]
	}
	return e
}

// Verdict is what the gates say in sum about a tree.
type Verdict struct {
	Passed   bool       `json:"passed"`
	Tree     string     `json:"tree"`
	Evidence []Evidence `json:"evidence,omitempty"`
	Why      string     `json:"why,omitzero"` // why not
}

// Findings returns what all gates found wrong, in their order.
func (v Verdict) Findings() []Finding {
	var all []Finding
	for _, e := range v.Evidence {
		if e.State == Pass {
			continue // what it remarks on is nobody's to fix
		}
		all = append(all, e.Findings...)
	}
	return all
}

// WarmUpGate is the name of what compiles before the gates of a base run. It is
// no gate: it is started, and never judged.
const WarmUpGate = "warm-up"

// MutationGate is the name of what says whether tests notice faults.
const MutationGate = "mutation"
