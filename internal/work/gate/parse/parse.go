// Package parse turns what build, lint and test tools print into a state,
// findings and counts.
//
// It believes the worse of two stories: a tool that exits 0 after naming
// failures has failed, one that exits with an error never passes, and no
// tests are not passed tests. It is pure and never panics, whatever it reads.
package parse

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Input is what a tool printed and where it ran.
type Input struct {
	Format         string
	Stdout, Stderr []byte
	Exit           int                       // -1: it did not exit by itself
	Cut            bool                      // the middle of the output is missing
	Tests          bool                      // it is meant to run tests; none is no pass
	Root           string                    // absolute directory it ran in; empty is unknown
	Expect         func(pkg string) []string // tests of a Go package that must have run; nil: nobody knows
	Modules        map[string]string         // Go module path to its directory below Root; tells where a package is
}

// Report is what the output means. Its zero State is [nexus.NotRun]'s
// neighbour: it has not passed.
type Report struct {
	State    nexus.GateState
	Why      string // why a state other than pass or fail
	Findings []nexus.Finding
	Counts   nexus.Counts
	Tests    []Test            // that the output names one by one, each once
	Ended    map[string]string // how each package ended, where the output says so: pass, fail, skip
}

// Test is a test and how it ended.
type Test struct {
	Package, Name string
	State         string // pass, fail, skip; run when it did not end
}

// String names the test as findings do.
func (t Test) String() string { return plain(t.Package + "." + t.Name) }

// The formats.
const (
	GoBuild    = "go-build"
	GoVet      = "go-vet" // text or -json
	GoTestJSON = "go-test-json"
	GoFmt      = "gofmt" // gofmt -l
	GolangCI   = "golangci"
	Exit       = "exit" // any command that exits 0 when all is well
)

// Formats returns the names of all formats.
func Formats() []string {
	return []string{GoBuild, GoVet, GoTestJSON, GoFmt, GolangCI, Exit}
}

// Bounds of a report. A tool that prints more is cut, and says so.
const (
	maxFindings = 200
	maxMessage  = 2000
)

// The codes of findings that are not a tool's own.
const (
	codeCompile     = "compile"
	codeVet         = "vet"
	codeTest        = "test"
	codePanic       = "panic"
	codeRace        = "race"
	codeTimeout     = "timeout"
	codeVanished    = "vanished" // a test that never ended or never began
	codeExit        = "exit"     // nothing but the exit code says that it failed
	codeEnvironment = "environment"
	codeMore        = "more" // findings that were left out
)

// Output reads the output of a tool that ran in the root of a tree. Format
// "exit" asks for no tests; see [Read].
func Output(format string, stdout, stderr []byte, exit int) (nexus.GateState, []nexus.Finding, nexus.Counts) {
	r := Read(Input{Format: format, Stdout: stdout, Stderr: stderr, Exit: exit})
	return r.State, r.Findings, r.Counts
}

// Read reads the output of a tool.
func Read(in Input) Report {
	var r Report
	switch in.Format {
	case GoBuild:
		r = readBuild(in, codeCompile)
	case GoVet:
		r = readVet(in)
	case GoTestJSON:
		in.Tests = true
		r = readTests(in)
	case GoFmt:
		r = readFmt(in)
	case GolangCI:
		r = readGolangCI(in)
	default:
		r = readExit(in)
	}
	return settle(in, r)
}

// settle holds a report to the rules that no format may break.
func settle(in Input, r Report) Report {
	r.Findings = tidy(r.Findings)
	switch {
	case r.State == "":
		r.State, r.Why = nexus.Unverifiable, "the output was not understood"
	case r.State != nexus.Pass:
	case in.Exit != 0:
		r.State, r.Why = nexus.Unverifiable, fmt.Sprintf("exit code %d, and nothing in the output says why", in.Exit)
	case len(r.Findings) > 0 || r.Counts.Failed > 0:
		r.State = nexus.Fail
	case in.Tests && r.Counts.Passed == 0:
		r.State, r.Why = nexus.NotRun, "no test ran"
	}
	if r.State == nexus.Fail && len(r.Findings) == 0 {
		r.Findings = []nexus.Finding{{Code: codeExit, Message: lastLines(in)}}
	}
	if in.Cut && r.Why == "" && r.State == nexus.Fail {
		r.Why = "the output was cut, there may be more findings"
	}
	return r
}

// tidy orders findings by place, drops doubles and bounds their number.
func tidy(all []nexus.Finding) []nexus.Finding {
	for i := range all {
		all[i].Message = clip(all[i].Message)
	}
	slices.SortStableFunc(all, func(a, b nexus.Finding) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column),
			cmp.Compare(a.Test, b.Test), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Message, b.Message))
	})
	all = slices.Compact(all)
	if more := len(all) - maxFindings; more > 0 {
		all = append(all[:maxFindings], nexus.Finding{Code: codeMore, Message: fmt.Sprintf("and %d more findings", more)})
	}
	return all
}

// lastLines is the finding where a tool failed without a word that we
// understand: the end of what it said.
func lastLines(in Input) string {
	all := append(lines(in.Stdout), lines(in.Stderr)...)
	all = slices.DeleteFunc(all, func(s string) bool { return strings.TrimSpace(s) == "" })
	if len(all) == 0 {
		return fmt.Sprintf("exit code %d without a word", in.Exit)
	}
	return strings.TrimSpace(strings.Join(all[max(0, len(all)-20):], "\n"))
}
