package outputparser

import (
	"bytes"
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

// goTestEvent is one line of go test -json.
type goTestEvent struct {
	Action, Package, Test, Output, ImportPath, FailedBuild string
}

// goTestResult is a test, or a package if test is empty.
type goTestResult struct {
	pkg, test string
	state     string // run, pass, fail, skip
	out       parserbase.TextHeadAndTail
	build     string // the build that failed, of a package
	cut       bool   // its package's result arrived within it: the process ended there
	closed    bool   // it reported its own result, rather than the process exiting with code 0
	tests     bool   // a package that began a test
}

// goTestLog collects the events by test. Tests run in parallel, so their lines are interleaved.
type goTestLog struct {
	in     ToolOutput
	units  map[[2]string]*goTestResult
	order  []*goTestResult
	builds map[string]*parserbase.TextHeadAndTail
	built  []string
	other  []string // lines that are not events
	events int
	below  map[[2]string]bool // tests with a failed subtest
	at     *regexp.Regexp     // the position at which a test reports its failure
	frame  *regexp.Regexp     // a line of a stack
}

func newGoTestLog(in ToolOutput) goTestLog {
	return goTestLog{
		in: in, units: map[[2]string]*goTestResult{}, builds: map[string]*parserbase.TextHeadAndTail{}, below: map[[2]string]bool{},
		at:    regexp.MustCompile(`^\s+([^\s:/]+\.go):(\d+): `),
		frame: regexp.MustCompile(`^\s+(/?[^\s:]+\.go):(\d+)(?: \+0x[0-9a-f]+)?$`),
	}
}

// GoTestJSONOutput reads go test -json.
func GoTestJSONOutput(in ToolOutput) ParsedToolOutput {
	l := newGoTestLog(in)
	for line := range bytes.SplitSeq(in.Stdout, []byte("\n")) {
		l.readLine(line)
	}
	l.other = append(l.other, parserbase.SplitLines(in.Stderr)...)
	return l.report()
}

func (l *goTestLog) readLine(data []byte) {
	var e goTestEvent
	if len(data) == 0 {
		return
	}
	if data[0] != '{' || json.Unmarshal(data, &e) != nil || e.Action == "" {
		l.other = append(l.other, parserbase.CleanLine(data))
		return
	}
	l.addEvent(e)
}

func (l *goTestLog) addEvent(e goTestEvent) {
	l.events++
	if strings.HasPrefix(e.Action, "build-") {
		b := l.builds[e.ImportPath]
		if b == nil {
			b = &parserbase.TextHeadAndTail{}
			l.builds[e.ImportPath] = b
			l.built = append(l.built, e.ImportPath)
		}
		b.Add(e.Output)
		return
	}
	u := l.unitFor(e.Package, e.Test)
	switch e.Action {
	case "output":
		l.addOutput(u, e.Output)
	case "run":
		u.state = cmp.Or(u.state, "run")
		l.unitFor(e.Package, "").tests = true
	case "pass":
		// go test counts a test that exits with code 0 as passed, and all tests after it, too.
		if u.closed && !u.cut || l.in.Cut || e.Test == "" {
			u.state, u.out = "pass", parserbase.TextHeadAndTail{}
		}
	case "bench", "skip":
		u.state, u.out = e.Action, parserbase.TextHeadAndTail{}
	case "fail":
		u.state, u.build = "fail", e.FailedBuild
		for i := strings.LastIndexByte(u.test, '/'); i > 0; i = strings.LastIndexByte(u.test[:i], '/') {
			l.below[[2]string{u.pkg, u.test[:i]}] = true
		}
	}
}

// addOutput processes a line that a test or package wrote. The output of a test itself arrives in
// the same way as the testing package's messages about it. When a process exits within a test,
// the go command's messages about the package arrive as that test's output, too.
func (l *goTestLog) addOutput(u *goTestResult, text string) {
	line := strings.TrimSpace(text)
	framed := u.test != "" && isTestFrameLine(line)
	switch {
	case u.test == "":
		u.closed = u.closed || text == "PASS\n"
	case framed && isTestResultLine(line, u.test):
		u.closed, u.cut = true, false
	case framed && (line == "PASS" || strings.HasPrefix(line, "ok  \t")):
		u.cut = true
	}
	if !framed || text == "\n" {
		u.out.Add(text)
	}
}

// isTestResultLine reports whether a line contains the result of a test.
func isTestResultLine(line, test string) bool {
	for _, p := range []string{"--- PASS: ", "--- FAIL: ", "--- SKIP: "} {
		if rest, ok := strings.CutPrefix(line, p); ok {
			return strings.HasPrefix(rest, test+" (")
		}
	}
	return false
}

func (l *goTestLog) unitFor(pkg, test string) *goTestResult {
	k := [2]string{pkg, test}
	u := l.units[k]
	if u == nil {
		u = &goTestResult{pkg: pkg, test: test}
		l.units[k] = u
		l.order = append(l.order, u)
	}
	return u
}

func (l *goTestLog) report() ParsedToolOutput {
	var r ParsedToolOutput
	machineToBlame := false
	for _, b := range l.built {
		t := readGoCommandText(l.in, parserbase.SplitLines(l.builds[b].KeptText()), parserbase.CodeCompile)
		r.Findings = append(r.Findings, t.findings...)
		machineToBlame = machineToBlame || t.environment
	}
	sick := map[string]bool{} // packages whose failure is explained
	for _, u := range l.order {
		r.Findings = append(r.Findings, l.countTestResult(u, &r.Counts, sick)...)
	}
	quiet := l.addPackageFailures(&r, sick)
	r.Findings = append(r.Findings, l.missingTests(r.Findings)...)
	r.Tests, r.Ended = l.testResults()
	r.Findings = slices.DeleteFunc(r.Findings, func(f nexus.Finding) bool {
		return f.Code == parserbase.CodeTest && f.Message == wordless && slices.ContainsFunc(r.Findings, func(g nexus.Finding) bool {
			return g.Code != parserbase.CodeTest && strings.HasPrefix(f.Test, g.Test+"/") // the panic that ended it
		})
	})
	switch {
	case machineToBlame && r.Counts.Failed == 0:
		r.State, r.Why = nexus.Environmental, firstMessage(r.Findings)
	case l.events == 0:
		t := readGoCommandText(l.in, l.other, parserbase.CodeCompile)
		r = t.report(l.in)
		if l.in.Exit == 0 && r.State == nexus.Pass {
			r = ParsedToolOutput{State: nexus.Unverifiable, Why: "go test printed no events"}
		}
	case parserbase.NoTestsReason(r.Findings, r.Counts) != "":
		r.State, r.Why, r.Counts.Failed = nexus.NotRun, parserbase.NoTestsReason(r.Findings, r.Counts), 0
	case len(r.Findings) > 0 || r.Counts.Failed > 0:
		r.State = nexus.Fail
	case len(quiet) > 0:
		r.State, r.Why, r.Findings = nexus.Environmental, unexplained, quiet
	case l.in.Exit != 0:
		return l.reportByExitCode(r)
	default:
		r.State = nexus.Pass
	}
	return r
}

// reportByExitCode returns the report of a run in which only the exit code shows a failure.
func (l *goTestLog) reportByExitCode(r ParsedToolOutput) ParsedToolOutput {
	t := readGoCommandText(l.in, l.other, parserbase.CodeCompile)
	if len(t.findings) > 0 && !t.environment {
		r.State, r.Findings = nexus.Fail, t.findings
		return r
	}
	r.State, r.Findings = nexus.Environmental, t.findings
	r.Why = cmp.Or(firstMessage(t.findings), unexplained)
	return r
}

// countTestResult counts a test and returns its findings.
func (l *goTestLog) countTestResult(u *goTestResult, c *nexus.TestCounts, sick map[string]bool) []nexus.Finding {
	if u.test == "" {
		if u.state == "fail" {
			return raceFindings(l.in, parserbase.SplitLines(u.out.KeptText()))
		}
		return nil
	}
	switch u.state {
	case "pass":
		c.Passed++
	case "skip":
		c.Skipped++
	case "fail":
		c.Failed++
		f, own := l.failureFinding(u)
		sick[u.pkg] = true
		if more := raceFindings(l.in, parserbase.SplitLines(u.out.KeptText())); len(more) > 0 {
			return append([]nexus.Finding{f}, slices.DeleteFunc(more, func(r nexus.Finding) bool { return r.File == f.File && r.Line == f.Line })...)
		}
		if own || !l.below[[2]string{u.pkg, u.test}] {
			return []nexus.Finding{f}
		}
	}
	return nil
}

// addPackageFailures adds the problems of packages: tests that began and never ended, failures outside of
// any test. It returns the failures that nothing explains.
func (l *goTestLog) addPackageFailures(r *ParsedToolOutput, sick map[string]bool) (quiet []nexus.Finding) {
	lost := map[string][]*goTestResult{}
	for _, u := range l.order {
		if u.test != "" && (u.state == "run" || u.state == "") {
			r.Counts.Failed++
			lost[u.pkg] = append(lost[u.pkg], u)
		}
	}
	for _, u := range l.order {
		if u.test != "" {
			continue
		}
		switch {
		case len(lost[u.pkg]) > 0:
			r.Findings = append(r.Findings, l.unfinishedTestFindings(u, lost[u.pkg], sick[u.pkg])...)
		case u.tests && !l.in.Cut && (u.state == "pass" && !u.closed || u.state == ""):
			r.Findings = append(r.Findings, nexus.Finding{Code: parserbase.CodeVanished, Test: parserbase.PlainText(u.pkg), Message: "the test process ended before the tests were done"})
		case u.state != "fail" || sick[u.pkg]:
		case u.build != "":
			if b := l.builds[u.build]; b == nil || len(readGoCommandText(l.in, parserbase.SplitLines(b.KeptText()), parserbase.CodeCompile).findings) == 0 {
				r.Findings = append(r.Findings, nexus.Finding{Code: parserbase.CodeCompile, Message: "package " + parserbase.PlainText(u.pkg) + " does not build"})
			}
		default:
			f, _ := l.failureFinding(u)
			if f.Code == parserbase.CodeTest {
				f.Code = parserbase.CodeExit
				quiet = append(quiet, f)
				continue
			}
			r.Findings = append(r.Findings, f)
		}
	}
	for pkg, units := range lost {
		if l.units[[2]string{pkg, ""}] == nil {
			r.Findings = append(r.Findings, l.unfinishedTestFindings(&goTestResult{pkg: pkg}, units, false)...)
		}
	}
	return quiet
}

// missingTests returns the tests that should have run and did not begin, in packages without another
// explanation.
func (l *goTestLog) missingTests(found []nexus.Finding) []nexus.Finding {
	if l.in.Expect == nil || l.in.Cut {
		return nil
	}
	var all []nexus.Finding
	for _, u := range l.order {
		if u.test != "" || u.build != "" || slices.ContainsFunc(found, func(f nexus.Finding) bool {
			return f.Code != parserbase.CodeTest && (f.Test == parserbase.PlainText(u.pkg) || strings.HasPrefix(f.Test, parserbase.PlainText(u.pkg)+"."))
		}) {
			continue
		}
		for _, name := range l.in.Expect(u.pkg) {
			if t := l.units[[2]string{u.pkg, name}]; t == nil || t.state == "" {
				all = append(all, nexus.Finding{Code: parserbase.CodeVanished, Test: parserbase.PlainText(u.pkg + "." + name), Message: "the test exists and did not run"})
			}
		}
	}
	return all
}

// testResults returns the result of each test and each package.
func (l *goTestLog) testResults() ([]TestResult, map[string]string) {
	var all []TestResult
	ended := map[string]string{}
	for _, u := range l.order {
		if u.test != "" {
			all = append(all, TestResult{Package: u.pkg, Name: u.test, State: u.state})
		} else {
			ended[u.pkg] = u.state
		}
	}
	return all, ended
}

// unfinishedTestFindings returns why tests of a package never ended. The cause, a panic or a timeout, is in the
// output of the test that was running.
func (l *goTestLog) unfinishedTestFindings(pkg *goTestResult, units []*goTestResult, explained bool) []nexus.Finding {
	var all []nexus.Finding
	for _, u := range append([]*goTestResult{pkg}, units...) {
		if f, _ := l.failureFinding(u); f.Code != parserbase.CodeTest {
			all = append(all, f)
		}
	}
	if len(all) > 0 || explained {
		return all
	}
	for _, u := range units {
		f, _ := l.failureFinding(u)
		f.Code = parserbase.CodeVanished
		f.Message = strings.TrimSuffix(parserbase.Begun+"\n"+f.Message, "\n"+wordless)
		all = append(all, f)
	}
	return all
}

// failureFinding reads the output of a failed test or package; own reports whether it wrote output of
// its own.
func (l *goTestLog) failureFinding(u *goTestResult) (f nexus.Finding, own bool) {
	f = nexus.Finding{Code: parserbase.CodeTest, Test: parserbase.PlainText(u.pkg)}
	if u.test != "" {
		f.Test = parserbase.PlainText(u.pkg + "." + u.test)
	}
	var said []string
	stack := false
	lines := parserbase.SplitLines(u.out.KeptText())
	for _, line := range lines {
		trimmed := strings.TrimSpace(line)
		if code := testDisasterReason(trimmed); code != "" && f.Code == parserbase.CodeTest {
			f.Code, f.File, f.Line = code, "", 0 // the position of the crash has precedence
		}
		if m := l.at.FindStringSubmatch(line); m != nil && !stack && m[1] != "testing.go" {
			own = true
			if f.File == "" {
				f.File, f.Line = l.testFilePath(u.pkg, m[1]), parserbase.ParseNumber(m[2])
			}
		}
		if m := l.frame.FindStringSubmatch(line); m != nil && f.File == "" && f.Code != parserbase.CodeTest {
			if file := l.in.RelativePath(m[1]); l.in.Root != "" && file != "" && !strings.HasPrefix(file, "_") {
				f.File, f.Line = file, parserbase.ParseNumber(m[2])
			}
		}
		stack = stack || strings.HasPrefix(trimmed, "goroutine ")
		if !stack && !isTestFrameLine(trimmed) {
			said = append(said, line)
		}
	}
	f.Message = parserbase.ClipMessage(dedentLines(said))
	l.relocateTemplateFailure(u.pkg, &f)
	if f.Message == "" {
		f.Message = wordless
	}
	return f, own || f.Code != parserbase.CodeTest
}

const unexplained = "every test passed, yet go test failed"

const wordless = "failed without a message"

// testDisasterReason returns the cause that ended a test other than its own failure.
func testDisasterReason(line string) string {
	switch {
	case strings.HasPrefix(line, "panic: test timed out after "):
		return parserbase.CodeTimeout
	case strings.HasPrefix(line, "panic: "), strings.HasPrefix(line, "fatal error: "), strings.HasPrefix(line, "SIGSEGV"), strings.HasPrefix(line, "SIGABRT"):
		return parserbase.CodePanic
	case line == "WARNING: DATA RACE", strings.HasPrefix(line, "testing: race detected outside"):
		return parserbase.CodeRace
	default:
		return ""
	}
}

// isTestFrameLine reports whether a line is the testing package's frame around a test's own output.
func isTestFrameLine(line string) bool {
	for _, p := range []string{"=== RUN ", "=== PAUSE ", "=== CONT ", "=== NAME ", "--- FAIL: ", "--- PASS: ", "--- SKIP: ", "====="} {
		if strings.HasPrefix(line, p) {
			return true
		}
	}
	return line == "" || line == "PASS" || line == "FAIL" || strings.HasPrefix(line, "FAIL\t") || strings.HasPrefix(line, "ok  \t") || strings.HasPrefix(line, "exit status ")
}

// dedentLines removes the common indentation of all lines, and cuts a text that is too long.
func dedentLines(all []string) string {
	least := -1
	for _, l := range all {
		if n := len(l) - len(strings.TrimLeft(l, " ")); least < 0 || n < least {
			least = n
		}
	}
	var b strings.Builder
	for i, l := range all {
		if i == 40 {
			b.WriteString("...\n")
			break
		}
		b.WriteString(l[max(least, 0):] + "\n")
	}
	return b.String()
}
