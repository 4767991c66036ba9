// Package outputparser converts the output of build, lint and test tools to a state, findings and
// counts.
//
// If exit code and output disagree, the worse one counts: a tool that exits with 0 after it
// named failures has failed, one that exits with an error never passes, and a run without tests
// does not pass. The package is pure and never panics, whatever it reads.
package outputparser

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

// ToolOutput is the output of a tool, with its command and its working directory.
type ToolOutput = parserbase.ToolOutput

// ParsedToolOutput is the parsed output.
type ParsedToolOutput = parserbase.ParsedToolOutput

// TestResult is a test and its result.
type TestResult = parserbase.TestResult

// ReadOutput parses the output of a tool. An unknown format is read as [Exit].
func (s OutputFormatSet) ReadOutput(in ToolOutput) ParsedToolOutput {
	f, ok := s.FindFormat(in.Format)
	if !ok {
		f, _ = s.FindFormat(Exit)
	}
	in.Tests = in.Tests || f.Tests
	if r, ok := unrunnableReport(in, f); ok {
		return enforceReportRules(in, f, r)
	}
	var r ParsedToolOutput
	if f.Read == nil {
		r = s.readExitCode(in)
	} else {
		r = s.rereadIfNotUnderstood(in, f, f.Read(in))
	}
	placed := slices.ContainsFunc(r.Findings, func(x nexus.Finding) bool { return x.File != "" || x.Test != "" })
	if (r.State == nexus.Environmental || r.State == nexus.Fail && !placed) && r.Counts.Passed > 0 && r.Counts.Failed == 0 && in.Exit > 0 {
		r = s.addOtherTools(in, f, r)
	}
	return enforceReportRules(in, f, placeFindingsInManifest(in, r))
}

// addOtherTools adds the findings of another tool in the output of a command that failed although all
// its tests passed: a script may run several tools.
func (s OutputFormatSet) addOtherTools(in ToolOutput, f OutputFormat, r ParsedToolOutput) ParsedToolOutput {
	text := strings.Join(in.AllLines(), "\n") + "\n"
	for _, other := range s {
		if other.Name == f.Name || other.Tests || other.Marks == "" || other.Read == nil || !regexp.MustCompile(other.Marks).MatchString(text) {
			continue
		}
		if said := other.Read(in); slices.ContainsFunc(said.Findings, func(x nexus.Finding) bool { return x.File != "" && (parserbase.IsBlocking(x) || !other.Warns) }) {
			r.State, r.Why, r.Findings = nexus.Fail, "", said.Findings
			return r
		}
	}
	if said := guessFindings(in, in.AllLines(), false); slices.ContainsFunc(said, func(x nexus.Finding) bool { return x.File != "" && x.Code != codeMake && parserbase.IsBlocking(x) }) {
		r.State, r.Why, r.Findings = nexus.Fail, "", said
	}
	return r
}

// unrunnableReport returns the report of a command that could not be run.
func unrunnableReport(in ToolOutput, f OutputFormat) (ParsedToolOutput, bool) {
	if r, ok := parserbase.EmptyVenvReport(in); ok {
		return r, true
	}
	if f.Go || in.Exit != 126 && in.Exit != 127 {
		return ParsedToolOutput{}, false
	}
	if gone, ok := parserbase.MissingFileFinding(in, in.AllLines()); ok {
		return ParsedToolOutput{State: nexus.Environmental, Why: gone.Message, Findings: []nexus.Finding{gone}}, true
	}
	if trouble, ok := parserbase.MachineFaultFinding(in.AllLines()); ok {
		if m := regexp.MustCompile(`^([^\s:]+\.\w+|[^\s:]+/[^\s:]+): (?:line )?(\d+): `).FindStringSubmatch(trouble.Message); m != nil {
			trouble.File, trouble.Line = in.RelativePath(m[1]), parserbase.ParseNumber(m[2])
		}
		return ParsedToolOutput{State: nexus.Environmental, Why: trouble.Message, Findings: []nexus.Finding{trouble}}, true
	}
	if tool, said := parserbase.CommandNotFoundByShell(in.AllLines()); in.Exit == 127 && tool != "" {
		return ParsedToolOutput{State: nexus.Environmental, Why: said, Findings: []nexus.Finding{parserbase.MissingToolFinding(tool, said)}}, true
	}
	if in.Exit == 126 {
		why := "the command cannot be executed: " + in.LastLines()
		return ParsedToolOutput{State: nexus.Environmental, Why: why, Findings: []nexus.Finding{{Code: parserbase.CodeEnvironment, Message: why}}}, true
	}
	return ParsedToolOutput{}, false
}

// enforceReportRules applies the rules that no format may break.
func enforceReportRules(in ToolOutput, f OutputFormat, r ParsedToolOutput) ParsedToolOutput {
	r.Findings = parserbase.NormalizeFindings(r.Findings)
	for i := range r.Findings {
		r.Findings[i] = withoutRootPath(sanitizeFinding(r.Findings[i]), in.Root)
	}
	r.Why = withoutRootPath(nexus.Finding{Message: r.Why}, in.Root).Message
	switch {
	case r.State == "":
		r.State, r.Why = nexus.Unverifiable, "the output was not understood"
	case r.State != nexus.Pass && r.State != nexus.Flaky:
	case in.Exit != 0:
		r.State, r.Why = nexus.Unverifiable, fmt.Sprintf("exit code %d, and nothing in the output says why", in.Exit)
	case slices.ContainsFunc(r.Findings, parserbase.IsBlocking) || r.Counts.Failed > 0:
		r.State = nexus.Fail
	case in.Tests && r.Counts.Passed == 0 && r.State != nexus.Flaky:
		r.State, r.Why = nexus.NotRun, nexus.NoTests
	case in.Guess && !r.Counted && !f.meansSuccess(in):
		r.State, r.Why = nexus.Unverifiable, "its exit code is not known, and nothing in the output says that all passed"
	}
	if r.State == nexus.Fail && len(r.Findings) == 0 {
		r.Findings = []nexus.Finding{{Code: parserbase.CodeExit, Message: in.LastLines()}}
	}
	if in.Cut && r.Why == "" && r.State == nexus.Fail {
		r.Why = "the output was cut, there may be more findings"
	}
	return r
}

// withoutRootPath removes the path of the tree from the text of a finding: it does not matter for the
// problem.
func withoutRootPath(f nexus.Finding, root string) nexus.Finding {
	if len(root) < 2 {
		return f
	}
	root = strings.TrimSuffix(root, "/") + "/"
	for _, s := range []*string{&f.Message, &f.Expected, &f.Actual, &f.Stack} {
		*s = strings.ReplaceAll(strings.ReplaceAll(*s, "file://"+root, ""), root, "")
	}
	return f
}

// sanitizeFinding removes impossible values from a finding: a column without a line, an end before the
// beginning, control characters.
func sanitizeFinding(f nexus.Finding) nexus.Finding {
	if f.File == "" || f.Line < 0 {
		f.Line = 0
	}
	if f.Line == 0 || f.Column < 0 {
		f.Column = 0
	}
	if f.Line == 0 || f.EndLine < f.Line {
		f.EndLine, f.EndColumn = 0, 0
	}
	if f.EndColumn < 0 || f.EndLine == f.Line && f.EndColumn < f.Column {
		f.EndColumn = 0
	}
	f.Code, f.Test = strings.TrimSpace(parserbase.PlainText(f.Code)), strings.TrimSpace(parserbase.PlainText(f.Test))
	f.Message, f.Expected, f.Actual, f.Stack = parserbase.PlainText(f.Message), parserbase.PlainText(f.Expected), parserbase.PlainText(f.Actual), parserbase.PlainText(f.Stack)
	return f
}

// JoinReports is [raw.JoinReports].
func JoinReports(printed, report ParsedToolOutput) ParsedToolOutput {
	return parserbase.JoinReports(printed, report)
}
