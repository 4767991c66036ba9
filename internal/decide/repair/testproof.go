package repair

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ProveTests returns which tests in the changed files the runs of the test gates prove.
// Before is the evidence of the same gates without these files: failures in it prove nothing.
// The caller fills in the fact's attempt and tree.
func ProveTests(files []string, before, now []nexus.GateEvidence) nexus.TestsRunWithoutWork {
	s := testProofTally{files: files, old: map[string]bool{}}
	for _, e := range before {
		for _, f := range e.Findings {
			s.old[findingKey(e.Gate, f)] = true
		}
	}
	for _, e := range now {
		s.addEvidence(e)
	}
	p := nexus.TestsRunWithoutWork{Files: files}
	switch {
	case len(files) == 0:
		p.Proof, p.Why = nexus.ProofNone, "no test was written"
	case s.unsure != "":
		p.Proof, p.Why = nexus.ProofUnsure, s.unsure
	case len(s.broken) > 0:
		p.Proof, p.Findings = nexus.ProofBroken, s.broken
		p.Why = "the new tests fail because of a mistake of their own, which no work on the task can fix"
	case s.red:
		p.Proof, p.Tests = nexus.ProofRed, s.tests
	case !s.ran:
		p.Proof, p.Why = nexus.ProofBroken, "test files were written, but no test ran: put them where the test command finds them"
	default:
		p.Proof, p.Why = nexus.ProofGreen, "the new tests pass without the work that they test"
	}
	return p
}

// testProofTally is the combined result of the gates.
type testProofTally struct {
	files  []string
	old    map[string]bool // earlier failures
	tests  []string        // tests that failed as expected
	broken []nexus.Finding
	unsure string
	red    bool
	ran    bool
}

func (s *testProofTally) addEvidence(e nexus.GateEvidence) {
	switch e.State {
	case nexus.Pass:
		s.ran = s.ran || e.Counts != (nexus.TestCounts{})
	case nexus.Fail, nexus.Flaky:
		s.ran = true
		if len(e.Findings) == 0 && e.State == nexus.Fail {
			s.red = true // it reports only that it failed
		}
		for _, f := range e.Findings {
			s.addFailure(e.Gate, f)
		}
	case nexus.Timeout:
		s.ran = true
		s.broken = append(s.broken, nexus.Finding{Gate: e.Gate, Message: cmp.Or(e.Why, "the tests do not end")})
	case nexus.Exceeded:
		s.ran = true
		s.broken = append(s.broken, nexus.Finding{Gate: e.Gate, Message: cmp.Or(e.Why, "the tests use too much")})
	case nexus.NotRun:
		for _, f := range e.Findings { // files that cannot be loaded: they may need the work
			s.ran = true
			s.addFailure(e.Gate, f)
		}
	case nexus.Environmental, nexus.MissingAsset, nexus.Unverifiable:
		s.unsure = fmt.Sprintf("gate %s: %s: %s", e.Gate, e.State, cmp.Or(e.Why, "no reason given"))
	}
}

func (s *testProofTally) addFailure(gate string, f nexus.Finding) {
	ours := f.File == "" || slices.Contains(s.files, f.File)
	switch {
	case s.old[findingKey(gate, f)]:
	case ours && isTestFault(f):
		s.broken = append(s.broken, f)
	case ours, f.Test != "": // the reported place may be in the code that the test called
		s.red = true
		if name := cmp.Or(f.Test, f.File); !slices.Contains(s.tests, name) {
			s.tests = append(s.tests, name)
		}
	default: // touched code does not compile
		s.broken = append(s.broken, f)
	}
}

// findingKey identifies a failure: by test for a test's own failures, and by place for others.
func findingKey(gate string, f nexus.Finding) string {
	if f.Test != "" {
		return gate + "\x00" + f.Test
	}
	return gate + "\x00\x00" + f.File + "\x00" + f.Message
}

// faults matches messages of compilers and runners about a fault of the test itself: its
// syntax, its names, its set-up.
var faults = regexp.MustCompile(`(?i)` +
	`syntax ?error|\bexpected .*,? found|unexpected (token|end|eof|indent|character|identifier)|` +
	`indentationerror|taberror|unterminated|unclosed|parse error|parsing error|` +
	`declared and not used|imported and not used|redeclared in this block|already declared|duplicate (test|function|definition)|missing return|` +
	`fixture '[^']*' not found|\bTS1\d{3}\b|error\[E0(?:585|586|765|766)\]|expected expression|expected item|expected one of|` +
	`invalid or unexpected token|missing \) after`)

// exports matches the message of ES modules about a name that is not exported yet. They call
// it a syntax error.
var exports = regexp.MustCompile(`(?i)does not provide an export named|requested module`)

// lacks matches the Go compiler's messages about a missing declaration, or one that differs
// from the test's use. Its messages about syntax errors are too many to list.
var lacks = regexp.MustCompile(`\bundefined\b|has no field or method|unknown field|(not enough|too many) arguments|assignment mismatch|` +
	`cannot use|missing method|does not implement|is not a type|is not in std|no required module provides|cannot find package|is not exported|not exported by`)

// isTestFault reports whether a failure is the test's own fault.
func isTestFault(f nexus.Finding) bool {
	if strings.HasSuffix(f.File, ".go") && f.Test == "" {
		return !lacks.MatchString(f.Message)
	}
	text := f.Code + " " + f.Message
	return faults.MatchString(text) && !exports.MatchString(text)
}
