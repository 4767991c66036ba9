package testrunners

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

type jestReport struct {
	NumTotalTests *int
	TestResults   []struct {
		Name, Status, Message string
		AssertionResults      []struct {
			AncestorTitles          []string
			FullName, Status, Title string
			FailureMessages         []string
			Location                *struct{ Line, Column int }
			Invocations             int
			RetryReasons            []string
		}
	}
}

// ReadJestJSON reads jest --json and vitest --reporter=json; ok is false if there is no such JSON.
func ReadJestJSON(in parserbase.ToolOutput) (r parserbase.ParsedToolOutput, ok, broken bool) {
	var j jestReport
	ok, broken = in.DecodeDocument(&j)
	if !ok || j.NumTotalTests == nil {
		return r, false, broken
	}
	run := parserbase.ParsedTestRun{Counted: true, Planned: *j.NumTotalTests, Empty: *j.NumTotalTests == 0 && len(j.TestResults) == 0}
	vitest := regexp.MustCompile(`(?m)^\s+at .*$`)
	for _, file := range j.TestResults {
		if file.Status == "failed" && len(file.AssertionResults) == 0 {
			f := nexus.Finding{Code: parserbase.CodeCompile, File: in.RelativePath(file.Name), Message: parserbase.PlainText(file.Message)}
			if m := regexp.MustCompile(`(?m): (.*) \((\d+):(\d+)\)$`).FindStringSubmatch(f.Message); m != nil {
				f.Line, f.Column, f.Message = parserbase.ParseNumber(m[2]), parserbase.ParseNumber(m[3])+1, strings.TrimSpace(lineContaining(f.Message, m[0]))
			}
			run.Findings = append(run.Findings, f)
		}
		for _, a := range file.AssertionResults {
			switch a.Status {
			case "passed":
				run.Counts.Passed++
				if len(a.RetryReasons) > 0 {
					run.Flaky = append(run.Flaky, nexus.FlakyTestCount{Test: a.FullName, Failed: len(a.RetryReasons), Runs: len(a.RetryReasons) + 1})
				}
			case "failed":
				run.Counts.Failed++
				said := parserbase.PlainText(strings.Join(a.FailureMessages, "\n"))
				f := nexus.Finding{Code: parserbase.CodeTest, Test: parserbase.PlainText(nameWithFile(in, file.Name, strings.Join(append(a.AncestorTitles, a.Title), " > "))), Message: strings.TrimSpace(vitest.ReplaceAllString(said, ""))}
				placeAtFirstFrame(in, &f, strings.Split(said, "\n"), stackFramePattern())
				if f.File == "" {
					f.File = in.RelativePath(file.Name)
				}
				setExpectedAndActual(&f, strings.Split(said, "\n"), `^\s*Expected(?: \w+)*: +(.+)$`, `^\s*Received(?: \w+)*: +(.+)$`)
				run.Findings = append(run.Findings, f)
			default:
				run.Counts.Skipped++
			}
		}
	}
	return in.TestRunReport(run), true, false
}

type mochaReport struct {
	Stats    *struct{ Tests, Passes, Pending, Failures int }
	Failures []mochaFailure
}

type mochaFailure struct {
	FullTitle, Title, File string
	Err                    struct {
		Message, Stack   string
		Actual, Expected json.RawMessage
	}
}

// readStream reads mocha --reporter json-stream: a pair in each line. It ends with the summary;
// without that the result is unknown.
func (j *mochaReport) readStream(in parserbase.ToolOutput) bool {
	for line := range bytes.SplitSeq(in.Stdout, []byte("\n")) {
		var e []json.RawMessage
		if len(line) == 0 || line[0] != '[' || json.Unmarshal(line, &e) != nil || len(e) != 2 {
			continue
		}
		switch string(e[0]) {
		case `"fail"`:
			var f mochaFailure
			var said struct{ Err, Stack string }
			_ = json.Unmarshal(e[1], &said)
			_ = json.Unmarshal(e[1], &f) // the error is a text here, and an object in f
			f.Err.Message, f.Err.Stack = said.Err, said.Stack
			j.Failures = append(j.Failures, f)
		case `"end"`:
			_ = json.Unmarshal(e[1], &j.Stats)
		}
	}
	return true
}

// ReadMochaJSON reads mocha --reporter json.
func ReadMochaJSON(in parserbase.ToolOutput) (r parserbase.ParsedToolOutput, ok, broken bool) {
	var j mochaReport
	if bytes.Contains(in.Stdout, []byte(`["start",{"total":`)) {
		ok = j.readStream(in)
	} else {
		ok, broken = in.DecodeDocument(&j)
	}
	if !ok || j.Stats == nil {
		return r, false, broken
	}
	run := parserbase.ParsedTestRun{Counted: true, Counts: nexus.TestCounts{Passed: j.Stats.Passes, Failed: j.Stats.Failures, Skipped: j.Stats.Pending}, Empty: j.Stats.Tests == 0}
	for _, t := range j.Failures {
		suite := strings.TrimSpace(strings.TrimSuffix(t.FullTitle, t.Title))
		f := nexus.Finding{Code: parserbase.CodeTest, Test: strings.TrimPrefix(suite+" > "+t.Title, " > "), Message: strings.TrimSpace(parserbase.PlainText(t.Err.Message))}
		placeAtFirstFrame(in, &f, strings.Split(parserbase.PlainText(t.Err.Stack), "\n"), stackFramePattern())
		if f.File == "" {
			f.File = in.RelativePath(t.File)
		}
		f.Expected, f.Actual = jsonText(t.Err.Expected), jsonText(t.Err.Actual)
		run.Findings = append(run.Findings, f)
	}
	return in.TestRunReport(run), true, false
}

// jsonText returns a JSON value as text, a string without its quotes.
func jsonText(v json.RawMessage) string {
	var s string
	if json.Unmarshal(v, &s) == nil {
		return parserbase.PlainText(s)
	}
	return parserbase.PlainText(string(v))
}

type playwrightReport struct {
	Suites []playwrightSuite
	Errors []struct {
		Message  string
		Location *playwrightLocation
	}
	Stats *struct{ Expected, Skipped, Unexpected, Flaky int }
}

type playwrightLocation struct {
	File         string
	Line, Column int
}

type playwrightResult struct {
	Status string
	Errors []struct {
		Message  string
		Location *playwrightLocation
	}
}

type playwrightSuite struct {
	Title, File string
	Suites      []playwrightSuite
	Specs       []struct {
		Title, File string
		Tests       []struct {
			ProjectName, Status string
			Results             []playwrightResult
		}
	}
}

// ReadPlaywrightJSON reads playwright test --reporter=json.
func ReadPlaywrightJSON(in parserbase.ToolOutput) (r parserbase.ParsedToolOutput, ok, broken bool) {
	var j playwrightReport
	ok, broken = in.DecodeDocument(&j)
	if !ok || j.Stats == nil {
		return r, false, broken
	}
	run := parserbase.ParsedTestRun{Counted: true, Counts: nexus.TestCounts{Passed: j.Stats.Expected + j.Stats.Flaky, Failed: j.Stats.Unexpected, Skipped: j.Stats.Skipped}}
	for _, e := range j.Errors {
		f := nexus.Finding{Code: parserbase.CodeCompile, Message: parserbase.PlainText(e.Message)}
		if e.Location != nil {
			f.File, f.Line, f.Column = in.RelativePath(e.Location.File), e.Location.Line, e.Location.Column
		}
		run.Findings = append(run.Findings, f)
	}
	for _, s := range j.Suites {
		s.walkSuite(in, nil, &run)
	}
	run.Empty = run.Counts == (nexus.TestCounts{}) && len(run.Findings) == 0
	return in.TestRunReport(run), true, false
}

// deepest limits the nesting depth of suites.
const deepest = 50

func (s playwrightSuite) walkSuite(in parserbase.ToolOutput, above []string, run *parserbase.ParsedTestRun) {
	above = append(above[:len(above):len(above)], s.Title)
	if len(above) > deepest {
		return
	}
	for _, spec := range s.Specs {
		for _, t := range spec.Tests {
			name := strings.Join(append(above[:len(above):len(above)], spec.Title), " > ")
			if t.ProjectName != "" {
				name = "[" + t.ProjectName + "] > " + name
			}
			if t.Status == "flaky" {
				run.Flaky = append(run.Flaky, nexus.FlakyTestCount{Test: name, Failed: max(1, len(t.Results)-1), Runs: len(t.Results)})
			}
			if t.Status == "unexpected" && len(t.Results) > 0 {
				last := t.Results[len(t.Results)-1]
				run.Findings = append(run.Findings, last.toFinding(in, name, spec.File))
			}
		}
	}
	for _, child := range s.Suites {
		child.walkSuite(in, above, run)
	}
}

// lineContaining returns the line of a text that contains a part of it.
func lineContaining(text, part string) string {
	for l := range strings.Lines(text) {
		if strings.Contains(l, part) {
			return l
		}
	}
	return text
}

// nameWithFile returns the name of a test with its file, if that is in the tree: other files may have
// the same titles.
func nameWithFile(in parserbase.ToolOutput, file, title string) string {
	if file = in.RelativePath(file); file == "" {
		return title
	}
	return file + " > " + title
}

// toFinding returns the finding of a failed attempt of a test.
func (p playwrightResult) toFinding(in parserbase.ToolOutput, name, file string) nexus.Finding {
	f := nexus.Finding{Code: parserbase.CodeTest, Test: parserbase.PlainText(name), File: in.RelativePath(file), Message: "failed without a message"}
	if p.Status == "timedOut" {
		f.Code = parserbase.CodeTimeout
	}
	if len(p.Errors) == 0 {
		return f
	}
	stop := regexp.MustCompile(`^\s*>? *\d+ \||^\s+at `)
	said := strings.Split(parserbase.PlainText(p.Errors[0].Message), "\n")
	f.Message = joinMessage(said, stop)
	setExpectedAndActual(&f, said, `^\s*Expected(?: \w+)*: +(.+)$`, `^\s*Received(?: \w+)*: +(.+)$`)
	if l := p.Errors[0].Location; l != nil && in.RelativePath(l.File) != "" {
		f.File, f.Line, f.Column = in.RelativePath(l.File), l.Line, l.Column
	}
	return f
}
