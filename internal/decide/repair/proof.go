package repair

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
)

// ProveTests says what runs of the test gates show of the tests in the files that
// were changed. Before is what the same gates found without them: what was red
// then proves nothing. The fact's attempt and tree are the caller's to fill in.
func ProveTests(files []string, before, now []nexus.Evidence) nexus.TestsProved {
	s := sum{files: files, old: map[string]bool{}}
	for _, e := range before {
		for _, f := range e.Findings {
			s.old[key(e.Gate, f)] = true
		}
	}
	for _, e := range now {
		s.add(e)
	}
	p := nexus.TestsProved{Files: files}
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

// sum is what the gates found in sum.
type sum struct {
	files  []string
	old    map[string]bool // failures of before
	tests  []string        // that failed as they should
	broken []nexus.Finding
	unsure string
	red    bool
	ran    bool
}

func (s *sum) add(e nexus.Evidence) {
	switch e.State {
	case nexus.Pass:
		s.ran = s.ran || e.Counts != (nexus.Counts{})
	case nexus.Fail, nexus.Flaky:
		s.ran = true
		if len(e.Findings) == 0 && e.State == nexus.Fail {
			s.red = true // it closed its output than that
		}
		for _, f := range e.Findings {
			s.failure(e.Gate, f)
		}
	case nexus.Timeout:
		s.ran = true
		s.broken = append(s.broken, nexus.Finding{Gate: e.Gate, Message: cmp.Or(e.Why, "the tests do not end")})
	case nexus.Exceeded:
		s.ran = true
		s.broken = append(s.broken, nexus.Finding{Gate: e.Gate, Message: cmp.Or(e.Why, "the tests use too much")})
	case nexus.NotRun:
		for _, f := range e.Findings { // files that cannot be loaded: what they need may be the work
			s.ran = true
			s.failure(e.Gate, f)
		}
	case nexus.Environmental, nexus.MissingAsset, nexus.Unverifiable:
		s.unsure = fmt.Sprintf("gate %s: %s: %s", e.Gate, e.State, cmp.Or(e.Why, "no reason given"))
	}
}

func (s *sum) failure(gate string, f nexus.Finding) {
	ours := f.File == "" || slices.Contains(s.files, f.File)
	switch {
	case s.old[key(gate, f)]:
	case ours && isTestFault(f):
		s.broken = append(s.broken, f)
	case ours, f.Test != "": // it may be placed in the code that the test called
		s.red = true
		if name := cmp.Or(f.Test, f.File); !slices.Contains(s.tests, name) {
			s.tests = append(s.tests, name)
		}
	default: // code that was touched does not compile
		s.broken = append(s.broken, f)
	}
}

// key tells failures apart that a test has by itself, and places of the rest.
func key(gate string, f nexus.Finding) string {
	if f.Test != "" {
		return gate + "\x00" + f.Test
	}
	return gate + "\x00\x00" + f.File + "\x00" + f.Message
}

// faults are what compilers and runners say about a test that is itself at fault:
// its syntax, its names, its set-up.
var faults = pattern.Lazy(`(?i)` +
	`syntax ?error|\bexpected .*,? found|unexpected (token|end|eof|indent|character|identifier)|` +
	`indentationerror|taberror|unterminated|unclosed|parse error|parsing error|` +
	`declared and not used|imported and not used|redeclared in this block|already declared|duplicate (test|function|definition)|missing return|` +
	`fixture '[^']*' not found|\bTS1\d{3}\b|error\[E0(?:585|586|765|766)\]|expected expression|expected item|expected one of|` +
	`invalid or unexpected token|missing \) after`)

// exports are what ES modules say about a name that is not exported yet. They call
// it a syntax error.
var exports = pattern.Lazy(`(?i)does not provide an export named|requested module`)

// lacks are what the Go compiler says about what is not there yet, or not yet as
// the test wants it. Its words for faults of syntax are too many to list.
var lacks = pattern.Lazy(`\bundefined\b|has no field or method|unknown field|(not enough|too many) arguments|assignment mismatch|` +
	`cannot use|missing method|does not implement|is not a type|is not in std|no required module provides|cannot find package|is not exported|not exported by`)

// isTestFault reports whether a failure is the test's own fault.
func isTestFault(f nexus.Finding) bool {
	if strings.HasSuffix(f.File, ".go") && f.Test == "" {
		return !lacks().MatchString(f.Message)
	}
	text := f.Code + " " + f.Message
	return faults().MatchString(text) && !exports().MatchString(text)
}
