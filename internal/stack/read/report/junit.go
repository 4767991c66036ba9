package report

import (
	"encoding/xml"
	"regexp"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
	"github.com/nexus-ai-builder/nexus/internal/stack/read/raw"
	"github.com/nexus-ai-builder/nexus/internal/stack/read/suite"
)

// unit is a test case while it is read.
type unit struct {
	class, name, file string
	line              int
	state             string
	message, kind     string
	said, wrote       strings.Builder
	flaky             int
}

// junit reads the elements one after the other, so that a truncated file, and several in a row,
// are read as far as possible.
type junit struct {
	in     raw.Input
	run    raw.Run
	root   bool
	suite  string // the name of the last one, if it may be that of a file
	depth  int    // of suites
	plan   int    // of the outermost one
	seen   int    // cases in it
	at     *unit
	inside bool // inside an element that explains a failure
	system bool // inside an element with the test's own output
}

// linter matches the form in which linters write a position in a test report.
var linter = pattern.Lazy(`^line (\d+), col (\d+), `)

// JUnit reads the XML that nearly every runner can write.
func JUnit(in raw.Input) raw.Report {
	j := junit{in: in}
	whole := false
	for t := range tokens(in, `testsuites?`) {
		switch e := t.(type) {
		case xml.StartElement:
			j.start(e)
		case xml.EndElement:
			j.end(e.Name.Local)
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
		j.end("testcase")
	}
	j.run.Counted = j.root && (whole || j.seen > 0 || j.run.Counts != (nexus.Counts{}))
	if j.root && !whole && !in.Cut {
		j.run.Findings = append(j.run.Findings, nexus.Finding{Code: raw.CodeVanished, Message: "the report is incomplete: tests may be missing from it"})
	}
	return in.Suite(j.run)
}

func (j *junit) start(e xml.StartElement) {
	switch e.Name.Local {
	case "testsuites":
		j.root = true
	case "testsuite":
		j.root = true
		if j.depth == 0 {
			j.plan, j.seen = count(e, "tests"), 0
		}
		j.depth++
		if name := attr(e, "name"); strings.Contains(name, ".") && !strings.ContainsAny(name, " :>()") {
			j.suite = name
		}
	case "testcase":
		j.root = true
		j.at = &unit{class: attr(e, "classname"), name: attr(e, "name"), file: attr(e, "file"), line: count(e, "line"), state: "pass"}
		switch strings.ToLower(attr(e, "status")) {
		case "notrun", "disabled", "skipped":
			j.at.state = "skip"
		case "fail", "failed", "error":
			j.at.state = "fail"
		}
	case "failure", "error", "rerunFailure", "rerunError":
		if j.at != nil {
			j.at.state, j.inside = "fail", true
			if j.at.message == "" {
				j.at.message, j.at.kind = attr(e, "message"), attr(e, "type")
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
			if m := attr(e, "message"); strings.HasPrefix(m, "Unable to find") { // ctest
				j.at.state, j.at.message = "fail", m
			}
		}
	}
}

func (j *junit) end(name string) {
	switch name {
	case "testsuite":
		if j.depth--; j.depth == 0 && j.plan > j.seen {
			j.run.Findings = append(j.run.Findings, lost(j.plan-j.seen, j.plan))
		}
		j.depth = max(j.depth, 0)
	case "failure", "error", "rerunFailure", "rerunError":
		j.inside = false
	case "system-out", "system-err":
		j.system = false
	case "testcase":
		if j.at != nil {
			j.seen++
			j.close(j.at)
		}
		j.at, j.inside = nil, false
	}
}

func lost(n, of int) nexus.Finding {
	return nexus.Finding{Code: raw.CodeVanished, Message: strconv.Itoa(n) + " of " + plural(of) + " did not report how they ended"}
}

func (j *junit) close(u *unit) {
	name := strings.ReplaceAll(title(u.class, j.relative(u.name)), " \u203a ", " > ")
	j.run.Tests = append(j.run.Tests, raw.Test{Package: u.class, Name: u.name, State: u.state})
	switch u.state {
	case "pass":
		j.run.Counts.Passed++
		if u.flaky > 0 {
			j.run.Flaky = append(j.run.Flaky, nexus.Flake{Test: name, Failed: u.flaky, Runs: u.flaky + 1})
		}
		return
	case "skip":
		j.run.Counts.Skipped++
		return
	}
	j.run.Counts.Failed++
	if len(j.run.Findings) >= raw.Enough {
		return
	}
	lines := raw.Lines([]byte(u.said.String()))
	placed := regexp.MustCompile(`^([^\s:]+\.\w+):(\d+)(?::(\d+))?$`)
	f := nexus.Finding{Code: raw.CodeTest, Test: name, Message: strings.TrimSpace(u.message)}
	if u.state == "run" {
		f.Code, f.Message = raw.CodeVanished, raw.Begun
	}
	if len(lines) == 0 && f.Message == "" {
		lines = raw.Lines([]byte(u.wrote.String()))
	}
	told := strings.TrimSpace(strings.Join(lines, "\n"))
	if f.Message == "" {
		f.Message, _, _ = strings.Cut(told, "\n    at ")
		if first, rest, ok := strings.Cut(f.Message, "\n"); ok && strings.HasSuffix(first, "::"+u.name) { // phpunit
			f.Message, _, _ = strings.Cut(rest, "\n\n")
		}
	}
	suite.Place(j.in, &f, u.class, lines)
	if f.Message == "" {
		f.Message = "failed without a message"
	}
	if f.File == "" {
		f.File, f.Line = j.in.Place(u.file), u.line
		if m := linter().FindStringSubmatch(strings.TrimSpace(u.said.String())); m != nil && u.file == "" { // a linter; its suite is the file
			f.File, f.Line, f.Column = j.in.Place(j.suite), raw.Number(m[1]), raw.Number(m[2])
			j.run.Findings = append(j.run.Findings, f)
			return
		}
		if m := placed.FindStringSubmatch(u.class); m != nil && u.file == "" {
			f.File, f.Line, f.Column = j.in.Place(m[1]), raw.Number(m[2]), raw.Number(m[3])
		} else if u.file == "" && strings.Contains(u.class, "/") {
			f.File = j.in.Place(u.class)
		} else if u.file == "" {
			f.File, f.Line = "", 0
		}
	}
	if f.Stack == "" && strings.Contains(told, "\n") {
		f.Stack = told
	}
	j.run.Findings = append(j.run.Findings, f)
}

// relative makes a name that is a file relative to the root.
func (j *junit) relative(name string) string {
	if strings.HasPrefix(name, "/") && !strings.ContainsAny(name, " >") {
		if p := j.in.Place(name); p != "" {
			return p
		}
	}
	return name
}

// title returns the readable name of a test.
func title(class, name string) string {
	switch {
	case class == "" || class == name || class == "test" || strings.HasPrefix(name, class):
		return name
	case strings.Contains(class, "/") || strings.Contains(class, ".spec.") || strings.Contains(class, ".test."):
		return class + " > " + name
	default:
		return class + "." + name
	}
}
