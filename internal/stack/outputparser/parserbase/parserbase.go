// Package parserbase defines the common parts of all parsers of tool output: their input, their
// result, text without colours, and the rules that derive a state from findings and counts.
package parserbase

import (
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ToolOutput is the output of a tool, with its command and its working directory.
type ToolOutput struct {
	Format         string
	Command        string // as it was run, empty if unknown; shows the kind of the text
	Stdout, Stderr []byte
	Exit           int                        // -1: it did not exit by itself
	Guess          bool                       // the exit code is not known, and Exit is 0
	Cut            bool                       // the middle of the output is missing
	Tests          bool                       // it is meant to run tests; a run without tests does not pass
	Dir            string                     // working directory below Root; empty is Root
	Root           string                     // absolute path of the root; empty is unknown
	Expect         func(pkg string) []string  // tests of a Go package that must have run; nil: unknown
	Find           func(suffix string) string // the only file of the tree with that suffix, "" for none or many; may be nil
	Modules        map[string]string          // Go module path to its directory below Root, to find a package
}

// ParsedToolOutput is the parsed output. Like [nexus.NotRun], its zero State is not passed.
type ParsedToolOutput struct {
	State    nexus.GateState
	Why      string // reason for a state other than pass or fail
	Findings []nexus.Finding
	Counts   nexus.TestCounts
	Counted  bool // the output contains the number of tests
	Partly   bool // further tests may have run that it does not count
	Flaky    []nexus.FlakyTestCount
	Coverage CoverageTotals
	Tests    []TestResult      // that the output names one by one, each once
	Ended    map[string]string // result of each package, if the output has it: pass, fail, skip
}

// TestResult is a test and its result.
type TestResult struct {
	Package, Name string
	State         string // pass, fail, skip; run if it did not end
}

// String returns the name of the test as findings have it.
func (t TestResult) String() string { return PlainText(t.Package + "." + t.Name) }

// CoverageTotals is the test coverage. A total of zero is unknown.
type CoverageTotals struct {
	Lines     CoverageCount `json:"lines,omitzero"`
	Branches  CoverageCount `json:"branches,omitzero"`
	Functions CoverageCount `json:"functions,omitzero"`
}

// CoverageCount is a part of a whole.
type CoverageCount struct {
	Covered int `json:"covered"`
	Total   int `json:"total"`
}

// The codes of findings that do not come from a tool.
const (
	CodeCompile     = "compile"
	CodeVet         = "vet"
	CodeTest        = "test"
	CodePanic       = "panic"
	CodeRace        = "race"
	CodeTimeout     = "timeout"
	CodeVanished    = "vanished" // a test that never ended or never began
	CodeExit        = "exit"     // only the exit code shows the failure
	CodeEnvironment = "environment"
	CodeMissing     = "missing-tool"
	CodeFormat      = "format"   // a file that a formatter would change
	CodeCoverage    = "coverage" // too low
	CodeFlaky       = "flaky"    // failed, and passed when the tool tried again
	CodeMore        = nexus.MoreFindings
	CodeRewrote     = "rewrote"  // a file that was changed by a gate that may only check
	CodeRecorded    = "recorded" // an expectation that was written by the tests which compare with it
	CodeHang        = "hang"     // an open resource that keeps a runner from exiting
	CodeObstacle    = "obstacle" // the machine or sandbox kept a gate from judging; see stack.Obstacles
	CodeGround      = "ground"   // red where runs work and green in the user's checkout, for an unknown reason
	CodeFewer       = "fewer"    // tests that ran on the base, and not now
)

// MaxFindings is the number of findings of a report that are shown and recorded; see
// [LimitFindings]. All are compared.
const MaxFindings = 200

// Enough is the number of findings after which readers stop and a report notes that there are
// more. More cannot be compared.
const Enough = 100_000
