package testrunners

import (
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

// ReadPytest reads pytest in every style of its tracebacks.
func ReadPytest(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	all := boundedLines(in)
	c, _, counted := testCountPattern{
		line: `^(?:=+ )?(?:\d+ (?:passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?|rerun)(?:, )?)+ in [\d.]+s`, last: true,
		pass: `(\d+) (?:passed|xpassed)`, fail: `(\d+) (?:failed|errors?)`, skip: `(\d+) (?:skipped|xfailed)`,
	}.countTests(all)
	r := parserbase.ParsedTestRun{Counts: c, Counted: counted, Empty: hasMatchingLine(all, `no tests ran in|^collected 0 items`) && c == (nexus.TestCounts{})}
	r.Green = strings.Count(strings.Join(all, "\n"), " test session starts ==") == 1 || !hasMatchingLine(all, `^=*.*\b\d+ (?:failed|errors?)\b.* in [\d.]+s`)
	planned := regexp.MustCompile(`^collected (\d+) items?(?: / (\d+) (?:error|deselected).*)?`)
	selected := regexp.MustCompile(` / (\d+) selected`)
	for _, l := range all {
		if m := planned.FindStringSubmatch(l); m != nil {
			r.Planned = parserbase.ParseNumber(m[1])
			if s := selected.FindStringSubmatch(l); s != nil {
				r.Planned = parserbase.ParseNumber(s[1])
			} else if strings.Contains(l, "deselected") || strings.Contains(l, "skipped") {
				r.Planned = 0
			}
		}
	}
	if hasMatchingLine(all, `^!+ .*(?:Interrupted|stopping after)`) {
		r.Planned = 0 // it reports itself that it did not continue
	}
	r.Findings = pytestFindings(in, all)
	r.Tests = pytestResults(all, c)
	return in.TestRunReport(r)
}

// pytestResults returns the result of each test, if -v names all that were counted.
func pytestResults(all []string, c nexus.TestCounts) []parserbase.TestResult {
	row := regexp.MustCompile(`^(\S+\.py::\S.*?) (PASSED|XPASS|FAILED|ERROR|SKIPPED|XFAIL)(?: \(.*\))?\s*(?:\[ *\d+%\])?$`)
	states := map[string]string{"PASSED": "pass", "XPASS": "pass", "FAILED": "fail", "ERROR": "fail", "SKIPPED": "skip", "XFAIL": "skip"}
	var tests []parserbase.TestResult
	for _, l := range all {
		if m := row.FindStringSubmatch(l); m != nil {
			tests = append(tests, parserbase.TestResult{Name: m[1], State: states[m[2]]})
		}
	}
	return testsIfComplete(tests, c.Passed+c.Failed+c.Skipped)
}

// testsIfComplete returns the tests if their number is that of all that ran: of an incomplete list the
// missing ones are unknown.
func testsIfComplete(tests []parserbase.TestResult, ran int) []parserbase.TestResult {
	if len(tests) != ran {
		return nil
	}
	return tests
}

func pytestFindings(in parserbase.ToolOutput, all []string) []nexus.Finding {
	parts := splitBlocks(all, regexp.MustCompile(`^_{3,} (.+?) _{3,}$`), regexp.MustCompile(`^={3,} .* ={3,}$|^(?:FAILED|ERROR) \S`))
	row := regexp.MustCompile(`^(FAILED|ERROR) (\S.*?)(?: - (.*))?$`)
	used := make([]bool, len(parts))
	fixture := regexp.MustCompile(`^ERROR at \w+ of `)
	headed := map[string][]int{} // the tracebacks of a headline, in their order
	for i, b := range parts {
		name := fixture.ReplaceAllString(b.head[1], "")
		headed[name] = append(headed[name], i)
	}
	var found []nexus.Finding
	summary := false
	for _, l := range all {
		summary = summary || strings.Contains(l, "short test summary info")
		m := row.FindStringSubmatch(l)
		if m == nil || !summary && !strings.Contains(l, "::") {
			continue
		}
		file, test, _ := strings.Cut(m[2], "::")
		f := nexus.Finding{Code: parserbase.CodeTest, Test: m[2], Message: m[3], File: in.RelativePath(file)}
		if test == "" {
			f.Code, f.Test = parserbase.CodeCompile, ""
		}
		name := strings.ReplaceAll(test, "::", ".")
		if test == "" {
			name = "ERROR collecting " + file
		}
		if at := headed[name]; len(at) > 0 {
			readPytestTraceback(in, &f, parts[at[0]].lines)
			used[at[0]], headed[name] = true, at[1:]
		}
		if found = append(found, f); len(found) == parserbase.Enough {
			return found
		}
	}
	placeFailures(in, all, found)
	for i, b := range parts {
		if !used[i] && !strings.HasPrefix(b.head[1], "coverage:") { // -r N, or the end is missing
			f := nexus.Finding{Code: parserbase.CodeTest, Test: b.head[1]}
			readPytestTraceback(in, &f, b.lines)
			if f.Message != "" {
				found = append(found, f)
			}
		}
	}
	return found
}

// placeFailures sets the positions of failures that --tb=line prints in one line each: they are in the
// order of the tests.
func placeFailures(in parserbase.ToolOutput, all []string, found []nexus.Finding) {
	row := regexp.MustCompile(`^(\S+\.py):(\d+): (.+)$`)
	var open []*nexus.Finding
	for i := range found {
		if found[i].Code == parserbase.CodeTest && found[i].Line == 0 {
			open = append(open, &found[i])
		}
	}
	var rows [][]string
	section := ""
	for _, l := range all {
		if strings.HasPrefix(l, "====") {
			section = strings.Trim(l, "= ")
		} else if m := row.FindStringSubmatch(l); m != nil && section == "FAILURES" && !strings.HasPrefix(m[3], "in ") {
			rows = append(rows, m)
		}
	}
	if len(rows) == 0 || len(rows) > len(open) {
		return
	}
	for i, m := range rows {
		if short := strings.TrimSuffix(open[i].Message, "..."); !strings.HasPrefix(m[3], short) {
			return // the order is not as expected
		}
	}
	for i, m := range rows {
		if file := in.RelativePath(m[1]); file != "" && !isForeignFile(m[1]) {
			open[i].File, open[i].Line, open[i].Message = file, parserbase.ParseNumber(m[2]), m[3]
		}
	}
}

// readPytestTraceback parses a traceback: the message, and the innermost position in the tree.
func readPytestTraceback(in parserbase.ToolOutput, f *nexus.Finding, lines []string) {
	place := regexp.MustCompile(`^([^\s:]+\.pyi?):(\d+): ?(?:in \S+|\w[\w.]*)?$`)
	source := regexp.MustCompile(`^E?\s+File "([^"]+)", line (\d+)`)
	var said, stack []string
	for _, l := range lines {
		if rest, ok := strings.CutPrefix(l, "E "); ok {
			said = append(said, rest)
		}
		m := place.FindStringSubmatch(l)
		if m == nil {
			m = source.FindStringSubmatch(l)
		}
		if m == nil {
			continue
		}
		stack = append(stack, strings.TrimSpace(l))
		if file := in.RelativePath(m[1]); file != "" && !isForeignFile(m[1]) && (!strings.HasPrefix(m[1], "/") || in.Root != "") {
			f.File, f.Line = file, parserbase.ParseNumber(m[2])
		}
	}
	if len(said) > 0 {
		f.Message = strings.TrimSpace(dedentLines(said))
	}
	slices.Reverse(stack)
	f.Stack = strings.Join(stack, "\n")
	if m := regexp.MustCompile(`^(?:AssertionError: )?assert (.+) == (.+)(?:\n|$)`).FindStringSubmatch(f.Message); m != nil {
		f.Actual, f.Expected = m[1], m[2]
	}
}

// unittestSummaryLines returns the lines with which unittest ends: the number of tests, and the first result
// line after that; without it they were cut off. A test may print similar lines.
func unittestSummaryLines(all []string) []string {
	var lines []string
	ran := ""
	end := regexp.MustCompile(`^(?:OK\b|FAILED \(.*\)$|NO TESTS RAN)`)
	open := false
	for _, l := range all {
		switch {
		case strings.HasPrefix(l, "Ran "):
			ran, open = l, true
		case open && end.MatchString(l):
			lines, open = append(lines, ran, l), false
		}
	}
	return lines
}

// ReadUnittest reads python -m unittest.
func ReadUnittest(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	all := boundedLines(in)
	c, total, counted := testCountPattern{
		line: `^(?:Ran \d+ tests? in |OK\b|FAILED \(|NO TESTS RAN)`, fail: `[(,] ?(?:failures|errors|unexpected successes)=(\d+)`,
		skip: `(?:skipped|expected failures)=(\d+)`, total: `^Ran (\d+) tests? in`,
	}.countTests(unittestSummaryLines(all))
	r := parserbase.ParsedTestRun{Counts: c, Counted: counted && hasMatchingLine(all, `^Ran \d+ tests? in`), Empty: counted && total == 0, Green: true}
	name := regexp.MustCompile(`^(\w+) \(([\w.<>]+)\)(.*)$`)
	source := regexp.MustCompile(`^\s+File "([^"]+)", line (\d+)(?:, in (\S+))?`)
	for _, b := range splitBlocks(all, regexp.MustCompile(`^(FAIL|ERROR): (.+)$`), regexp.MustCompile(`^={60,}$|^Ran \d+ tests? in`)) {
		f := nexus.Finding{Code: parserbase.CodeTest, Test: b.head[2]}
		if m := name.FindStringSubmatch(b.head[2]); m != nil {
			f.Test = m[2] + m[3]
			if !strings.HasSuffix(m[2], "."+m[1]) {
				f.Test = m[2] + "." + m[1] + m[3]
			}
		}
		var said, stack []string
		for _, l := range b.lines {
			m := source.FindStringSubmatch(l)
			switch {
			case m != nil:
				said, stack = nil, append(stack, strings.TrimSpace(l))
				if file := in.RelativePath(m[1]); file != "" && !isForeignFile(m[1]) && (!strings.HasPrefix(m[1], "/") || in.Root != "") {
					f.File, f.Line = file, parserbase.ParseNumber(m[2])
				}
			case strings.HasPrefix(l, "-----"), strings.HasPrefix(l, "Traceback "):
			case strings.HasPrefix(l, "    ") && len(said) == 0:
			default:
				said = append(said, l)
			}
		}
		slices.Reverse(stack)
		f.Message, f.Stack = joinMessage(said, nil), strings.Join(stack, "\n")
		if strings.Contains(f.Test, "_FailedTest") {
			f.Code, f.Test = parserbase.CodeCompile, ""
		}
		r.Findings = append(r.Findings, f)
	}
	r.Tests = unittestResults(all, total)
	return in.TestRunReport(r)
}

// unittestResults returns the result of each test, if -v names all that ran. The output of a test
// is between its name and its result, or before its name.
func unittestResults(all []string, ran int) []parserbase.TestResult {
	name := regexp.MustCompile(`^(\w+) \(([\w.<>]+)\)(?: \.\.\.|$)`)
	end := regexp.MustCompile(`(?:^|\.\.\. )(ok|FAIL|ERROR|skipped '.*'|skipped ".*"|expected failure|unexpected success)$`)
	below := regexp.MustCompile(`^  \w+ \(.*\.\.\. (?:FAIL|ERROR)$`)
	var tests []parserbase.TestResult
	for _, l := range all {
		if strings.HasPrefix(l, "======") || strings.HasPrefix(l, "------") {
			break
		}
		if m := name.FindStringSubmatch(l); m != nil {
			tests = append(tests, parserbase.TestResult{Package: strings.TrimSuffix(m[2], "."+m[1]), Name: m[1]})
		}
		if len(tests) == 0 || tests[len(tests)-1].State != "" {
			continue
		}
		t := &tests[len(tests)-1]
		switch m := end.FindStringSubmatch(l); {
		case below.MatchString(l), m != nil && (m[1] == "FAIL" || m[1] == "ERROR" || m[1] == "unexpected success"):
			t.State = "fail"
		case m != nil && m[1] == "ok":
			t.State = "pass"
		case m != nil:
			t.State = "skip"
		}
	}
	if slices.ContainsFunc(tests, func(t parserbase.TestResult) bool { return t.State == "" }) {
		return nil
	}
	return testsIfComplete(tests, ran)
}
