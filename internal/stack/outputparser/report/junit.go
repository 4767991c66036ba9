package report

import (
	"encoding/xml"
	"regexp"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/testrunners"
)

// junitCase is a test case while it is read.
type junitCase struct {
	class, name, file string
	line              int
	state             string
	message, kind     string
	said, wrote       strings.Builder
	flaky             int
}

// junitReader reads the elements one after the other, so that a truncated file, and several in a row,
// are read as far as possible.
type junitReader struct {
	in     parserbase.ToolOutput
	run    parserbase.ParsedTestRun
	root   bool
	suite  string // the name of the last one, if it may be that of a file
	depth  int    // of suites
	plan   int    // of the outermost one
	seen   int    // cases in it
	at     *junitCase
	inside bool // inside an element that explains a failure
	system bool // inside an element with the test's own output
}

// linter matches the form in which linters write a position in a test report.
var linter = regexp.MustCompile(`^line (\d+), col (\d+), `)

// ReadJUnit reads the XML that nearly every runner can write.
func ReadJUnit(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	j := junitReader{in: in}
	whole := false
	for t := range xmlTokens(in, `testsuites?`) {
		switch e := t.(type) {
		case xml.StartElement:
			j.startElement(e)
		case xml.EndElement:
			j.endElement(e.Name.Local)
			whole = j.depth == 0 && (e.Name.Local == "testsuites" || e.Name.Local == "testsuite")
		case xml.CharData:
			if j.at != nil && j.inside && j.at.said.Len() < 64<<10 {
				j.at.said.Write(e)
			} else if j.at != nil && j.system && j.at.wrote.Len() < 64<<10 {
				j.at.wrote.Write(e)
			}
		}
	}
	if j.at != nil {
		j.at.state = "run"
		j.endElement("testcase")
	}
	j.run.Counted = j.root && (whole || j.seen > 0 || j.run.Counts != (nexus.TestCounts{}))
	if j.root && !whole && !in.Cut {
		j.run.Findings = append(j.run.Findings, nexus.Finding{Code: parserbase.CodeVanished, Message: "the report is incomplete: tests may be missing from it"})
	}
	return in.TestRunReport(j.run)
}

func (j *junitReader) startElement(e xml.StartElement) {
	switch e.Name.Local {
	case "testsuites":
		j.root = true
	case "testsuite":
		j.root = true
		if j.depth == 0 {
			j.plan, j.seen = countAttribute(e, "tests"), 0
		}
		j.depth++
		if name := xmlAttribute(e, "name"); strings.Contains(name, ".") && !strings.ContainsAny(name, " :>()") {
			j.suite = name
		}
	case "testcase":
		j.root = true
		j.at = &junitCase{class: xmlAttribute(e, "classname"), name: xmlAttribute(e, "name"), file: xmlAttribute(e, "file"), line: countAttribute(e, "line"), state: "pass"}
		switch strings.ToLower(xmlAttribute(e, "status")) {
		case "notrun", "disabled", "skipped":
			j.at.state = "skip"
		case "fail", "failed", "error":
			j.at.state = "fail"
		}
	case "failure", "error", "rerunFailure", "rerunError":
		if j.at != nil {
			j.at.state, j.inside = "fail", true
			if j.at.message == "" {
				j.at.message, j.at.kind = xmlAttribute(e, "message"), xmlAttribute(e, "type")
			}
		}
	case "flakyFailure", "flakyError":
		if j.at != nil {
			j.at.flaky++
		}
	case "system-out", "system-err":
		j.system = true
	case "skipped":
		if j.at != nil && j.at.state != "fail" {
			j.at.state = "skip"
			if m := xmlAttribute(e, "message"); strings.HasPrefix(m, "Unable to find") { // ctest
				j.at.state, j.at.message = "fail", m
			}
		}
	}
}

func (j *junitReader) endElement(name string) {
	switch name {
	case "testsuite":
		if j.depth--; j.depth == 0 && j.plan > j.seen {
			j.run.Findings = append(j.run.Findings, lostTestsFinding(j.plan-j.seen, j.plan))
		}
		j.depth = max(j.depth, 0)
	case "failure", "error", "rerunFailure", "rerunError":
		j.inside = false
	case "system-out", "system-err":
		j.system = false
	case "testcase":
		if j.at != nil {
			j.seen++
			j.endTestCase(j.at)
		}
		j.at, j.inside = nil, false
	}
}

func lostTestsFinding(n, of int) nexus.Finding {
	return nexus.Finding{Code: parserbase.CodeVanished, Message: strconv.Itoa(n) + " of " + testCountText(of) + " did not report how they ended"}
}

func (j *junitReader) endTestCase(u *junitCase) {
	name := strings.ReplaceAll(testTitle(u.class, j.relativeName(u.name)), " \u203a ", " > ")
	j.run.Tests = append(j.run.Tests, parserbase.TestResult{Package: u.class, Name: u.name, State: u.state})
	switch u.state {
	case "pass":
		j.run.Counts.Passed++
		if u.flaky > 0 {
			j.run.Flaky = append(j.run.Flaky, nexus.FlakyTestCount{Test: name, Failed: u.flaky, Runs: u.flaky + 1})
		}
		return
	case "skip":
		j.run.Counts.Skipped++
		return
	}
	j.run.Counts.Failed++
	if len(j.run.Findings) >= parserbase.Enough {
		return
	}
	lines := parserbase.SplitLines([]byte(u.said.String()))
	placed := regexp.MustCompile(`^([^\s:]+\.\w+):(\d+)(?::(\d+))?$`)
	f := nexus.Finding{Code: parserbase.CodeTest, Test: name, Message: strings.TrimSpace(u.message)}
	if u.state == "run" {
		f.Code, f.Message = parserbase.CodeVanished, parserbase.Begun
	}
	if len(lines) == 0 && f.Message == "" {
		lines = parserbase.SplitLines([]byte(u.wrote.String()))
	}
	told := strings.TrimSpace(strings.Join(lines, "\n"))
	if f.Message == "" {
		f.Message, _, _ = strings.Cut(told, "\n    at ")
		if first, rest, ok := strings.Cut(f.Message, "\n"); ok && strings.HasSuffix(first, "::"+u.name) { // phpunit
			f.Message, _, _ = strings.Cut(rest, "\n\n")
		}
	}
	testrunners.PlaceFailure(j.in, &f, u.class, lines)
	if f.Message == "" {
		f.Message = "failed without a message"
	}
	if f.File == "" {
		f.File, f.Line = j.in.RelativePath(u.file), u.line
		if m := linter.FindStringSubmatch(strings.TrimSpace(u.said.String())); m != nil && u.file == "" { // a linter; its suite is the file
			f.File, f.Line, f.Column = j.in.RelativePath(j.suite), parserbase.ParseNumber(m[1]), parserbase.ParseNumber(m[2])
			j.run.Findings = append(j.run.Findings, f)
			return
		}
		if m := placed.FindStringSubmatch(u.class); m != nil && u.file == "" {
			f.File, f.Line, f.Column = j.in.RelativePath(m[1]), parserbase.ParseNumber(m[2]), parserbase.ParseNumber(m[3])
		} else if u.file == "" && strings.Contains(u.class, "/") {
			f.File = j.in.RelativePath(u.class)
		} else if u.file == "" {
			f.File, f.Line = "", 0
		}
	}
	if f.Stack == "" && strings.Contains(told, "\n") {
		f.Stack = told
	}
	j.run.Findings = append(j.run.Findings, f)
}

// relativeName makes a name that is a file relative to the root.
func (j *junitReader) relativeName(name string) string {
	if strings.HasPrefix(name, "/") && !strings.ContainsAny(name, " >") {
		if p := j.in.RelativePath(name); p != "" {
			return p
		}
	}
	return name
}

// testTitle returns the readable name of a test.
func testTitle(class, name string) string {
	switch {
	case class == "" || class == name || class == "test" || strings.HasPrefix(name, class):
		return name
	case strings.Contains(class, "/") || strings.Contains(class, ".spec.") || strings.Contains(class, ".test."):
		return class + " > " + name
	default:
		return class + "." + name
	}
}
