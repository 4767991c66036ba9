package outputparser

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

// readExitCode reads a command that exits with 0 when all is well. If it runs tests, it must also
// report their number. Its output is read as that of the tool that printed it, as far as one is
// recognised.
func (s OutputFormatSet) readExitCode(in ToolOutput) ParsedToolOutput {
	all := in.AllLines()
	speak, sure := s.recognizedFormats(in)
	known := len(speak) > 0
	var f OutputFormat
	var r ParsedToolOutput
	if known {
		f = speak[0]
		r = s.reportOfWorstRun(in, f, s.rereadIfNotUnderstood(in, f, f.Read(in)))
		if !f.Tests && in.Exit > 0 {
			r = addCheckerFindings(in, r, speak[1:])
		}
	}
	believed := slices.ContainsFunc(r.Findings, parserbase.IsBlocking)
	switch {
	case known && f.Tests && r.State == nexus.NotRun && believed: // its output explains why none of its tests ran
	case in.Exit == 0 && (r.Counts.Failed > 0 || believed && (sure || f.Tests || f.Zero)):
		r.State, r.Why = nexus.Fail, ""
		if len(r.Findings) == 0 {
			r.Findings = []nexus.Finding{{Code: parserbase.CodeTest, Message: fmt.Sprintf("%d tests failed, though the command exits 0", r.Counts.Failed)}}
		}
	case in.Exit == 0 && known && f.Tests && r.State == nexus.NotRun && r.Counts == (nexus.TestCounts{}): // it ran a runner that itself reports this
	case in.Exit == 0 && !in.Tests:
		r.State, r.Why = nexus.Pass, ""
		if in.Guess && !known {
			r.State, r.Why = nexus.Unverifiable, "its exit code is not known, and nothing in the output says that all passed"
		}
		r.Findings = slices.DeleteFunc(r.Findings, parserbase.IsBlocking)
	case in.Exit == 0 && !r.Counted:
		r.State, r.Why = nexus.Unverifiable, "it exits 0, but nothing in its output says how many tests ran"
	case in.Exit == 0:
		r.State = cmp.Or(r.State, nexus.Pass) // enforceReportRules requires at least one that passed
	case known && (r.State == nexus.NotRun || r.State == nexus.Environmental || r.State == nexus.Fail && (believed && r.Findings[0].Code != parserbase.CodeExit || isUnderstood(r))):
	case in.WasKilled():
		r.State, r.Why = nexus.Environmental, "it was killed"
	default:
		r = unexplainedFailureReport(in, r, all)
	}
	return testsNotLoadedReport(r, all)
}

// testsNotLoadedReport returns the report of tests that did not run, if the only message is that a test
// file could not be loaded or built.
func testsNotLoadedReport(r ParsedToolOutput, all []string) ParsedToolOutput {
	tests := regexp.MustCompile(`(?i)(?:^|[/._-])(?:tests?|spec|specs|__tests__|conftest)[/._-]|Test\.\w+$`)
	missing := regexp.MustCompile(`^(?:E +)?(?:ModuleNotFoundError|ImportError)\b|Cannot find (?:module|package) |cannot load such file -- |Failed opening required|^error: could not compile .* \((?:test|lib test|bin .* test)\b`)
	outside := func(f nexus.Finding) bool { return parserbase.IsBlocking(f) && !tests.MatchString(f.File) }
	if r.State != nexus.Fail || r.Counted || len(r.Findings) == 0 || slices.ContainsFunc(r.Findings, outside) {
		return r
	}
	if i := slices.IndexFunc(all, func(l string) bool { return len(l) < 4096 && missing.MatchString(l) }); i >= 0 {
		r.State, r.Why = nexus.NotRun, "no test ran: "+strings.TrimSpace(all[i])
	}
	return r
}

// unexplainedFailureReport returns the report of a command that exits with an error and whose output no format
// explains.
func unexplainedFailureReport(in ToolOutput, r ParsedToolOutput, all []string) ParsedToolOutput {
	if in.Tests {
		if unran := in.UnexplainedTestFailure(); unran.State == nexus.NotRun {
			return unran
		}
	}
	r.State, r.Why = nexus.Fail, ""
	if general := guessFindings(in, all, true); len(general) > 0 {
		r.Findings = general
		return r
	}
	silent := in.UnexplainedFailure()
	r.State, r.Why, r.Findings = silent.State, silent.Why, silent.Findings
	return r
}

// addCheckerFindings adds the findings of further checkers in the same output to those of one.
func addCheckerFindings(in ToolOutput, r ParsedToolOutput, others []OutputFormat) ParsedToolOutput {
	has := func(x nexus.Finding) bool {
		return slices.ContainsFunc(r.Findings, func(y nexus.Finding) bool { return x.File == y.File && x.Line == y.Line })
	}
	loose := looseFormats()
	for _, f := range others {
		if isUnderstood(r) && slices.ContainsFunc(loose, func(l OutputFormat) bool { return l.Name == f.Name }) {
			continue
		}
		said := f.Read(in).Findings
		r.Findings = append(r.Findings, slices.DeleteFunc(said, func(x nexus.Finding) bool { return x.File == "" || x.Code == parserbase.CodeEnvironment || has(x) })...)
	}
	return r
}

// reportOfWorstRun returns the report of the worst run, if the output contains several test runs and the
// first one passed.
func (s OutputFormatSet) reportOfWorstRun(in ToolOutput, f OutputFormat, r ParsedToolOutput) ParsedToolOutput {
	if !f.Tests || r.Counts.Failed > 0 {
		return r
	}
	_, tests := formatsInText(s, headAndTailText(in))
	for _, other := range tests {
		if other.Name == f.Name {
			continue
		}
		if said := other.Read(in); said.Counted && said.Counts.Failed > 0 && said.State == nexus.Fail {
			return said
		}
	}
	return r
}
