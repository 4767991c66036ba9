// Package raw holds what all parsers of tool output share: their input, their
// result, text without colours, and the rules by which the
// findings and counts of a tool become a state.
package raw

import (
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Input is what a tool printed and where it ran.
type Input struct {
	Format         string
	Command        string // as it was run, empty if unknown; tells what a text is
	Stdout, Stderr []byte
	Exit           int                        // -1: it did not exit by itself
	Guess          bool                       // the exit code is not known, and Exit is 0
	Cut            bool                       // the middle of the output is missing
	Tests          bool                       // it is meant to run tests; none is no pass
	Dir            string                     // below Root, where it ran; empty is Root
	Root           string                     // absolute directory it ran in; empty is unknown
	Expect         func(pkg string) []string  // tests of a Go package that must have run; nil: unknown
	Find           func(suffix string) string // the one file of the tree whose path ends so, empty for none or many; may be nil
	Modules        map[string]string          // Go module path to its directory below Root; tells where a package is
}

// Report is what the output means. Its zero State is [nexus.NotRun]'s
// neighbour: it has not passed.
type Report struct {
	State    nexus.GateState
	Why      string // why a state other than pass or fail
	Findings []nexus.Finding
	Counts   nexus.Counts
	Counted  bool // the output says how many tests ran
	Partly   bool // others may have run that it does not count
	Flaky    []nexus.Flake
	Coverage Coverage
	Tests    []Test            // that the output names one by one, each once
	Ended    map[string]string // how each package ended, where the output says so: pass, fail, skip
}

// Test is a test and how it ended.
type Test struct {
	Package, Name string
	State         string // pass, fail, skip; run when it did not end
}

// String names the test as findings do.
func (t Test) String() string { return Plain(t.Package + "." + t.Name) }

// Coverage is what tests went through. A zero total is unknown.
type Coverage struct {
	Lines     Share `json:"lines,omitzero"`
	Branches  Share `json:"branches,omitzero"`
	Functions Share `json:"functions,omitzero"`
}

// Share is a part of a whole.
type Share struct {
	Covered int `json:"covered"`
	Total   int `json:"total"`
}

// The codes of findings that are not a tool's own.
const (
	CodeCompile     = "compile"
	CodeVet         = "vet"
	CodeTest        = "test"
	CodePanic       = "panic"
	CodeRace        = "race"
	CodeTimeout     = "timeout"
	CodeVanished    = "vanished" // a test that never ended or never began
	CodeExit        = "exit"     // nothing but the exit code says that it failed
	CodeEnvironment = "environment"
	CodeMissing     = "missing-tool"
	CodeFormat      = "format"   // a file that a formatter would change
	CodeCoverage    = "coverage" // too little of it
	CodeFlaky       = "flaky"    // failed, and passed when the tool tried again
	CodeMore        = nexus.MoreFindings
	CodeRewrote     = "rewrote"  // a file that a gate changed which is only to look
	CodeRecorded    = "recorded" // an expectation that the tests which compare with it wrote themselves
	CodeHang        = "hang"     // what keeps a runner from exiting
	CodeObstacle    = "obstacle" // the place where a gate ran kept it from judging; see stack.Obstacles
	CodeGround      = "ground"   // red where runs work and green in the user's checkout, for a reason that is not known
	CodeFewer       = "fewer"    // tests that ran on the base, and not now
)

// MaxFindings is how many findings of a report are shown and recorded, see
// [LimitFindings]. All are compared.
const MaxFindings = 200

// Enough is the number of findings after which readers look no further, and a
// report says that there are more. Nobody can compare those.
const Enough = 100_000
