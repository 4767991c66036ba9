package outputparser

import (
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

// GoTestMarks matches lines that go test writes, and hardly any other tool.
const GoTestMarks = `(?m)^(?:ok  \t\S+\t|FAIL\t\S+[\t ]|\?   \t\S+\t\[no test files\]|=== RUN   \S+$|--- (?:PASS|FAIL|SKIP): (?:Test|Fuzz|Example)\S* \([\d.]+s\)$)`

// goTestTextConverter converts the text of go test to the events of -json. The text names a package only
// after its lines, so these are buffered until then.
type goTestTextConverter struct {
	log    goTestLog
	wait   []string // lines of the package whose name follows
	builds string   // the package being built, while the compiler prints
	well   bool     // all tests of the current package passed: go test reports so, and exits with code 0
	ok     int      // passed packages that name no test

	began, result, over, bare, tests *regexp.Regexp
}

// GoTestOutput reads go test, with -json and without. If no passed test is named, which takes
// -v, a passed package counts as one.
func GoTestOutput(in ToolOutput) ParsedToolOutput {
	if regexp.MustCompile(GoTestJSONMarks).Match(in.Stdout) {
		return GoTestJSONOutput(in)
	}
	in.Expect = nil // the output does not show which tests ran
	g := goTestTextConverter{
		log:    newGoTestLog(in),
		began:  regexp.MustCompile(`^=== (?:RUN|PAUSE|CONT|NAME) +(\S+)$`),
		result: regexp.MustCompile(`^\s*--- (PASS|FAIL|SKIP|BENCH): (\S+) \(.*\)$`),
		over:   regexp.MustCompile(`^(ok  |FAIL|\?   )\t(\S+)(?:[\t ](.*))?$`),
		bare:   regexp.MustCompile(`^\t(\S+)\t+coverage: [\d.]+% of statements`),
		tests:  regexp.MustCompile(`^(?:=== |\s*--- |PASS$|FAIL$|panic: |fatal error: )`),
	}
	for _, line := range indentPrintedLines(in, append(parserbase.SplitLines(in.Stderr), parserbase.SplitLines(in.Stdout)...)) {
		g.readLine(line)
	}
	g.flushLines("")
	g.endOpenSubtests()
	r := g.log.report()
	if r.Why == unexplained && slices.ContainsFunc(r.Findings, func(f nexus.Finding) bool { return f.Test != "" }) {
		r.State, r.Why = nexus.Fail, "" // the output of a failed package does not show that its tests passed
	}
	if r.State == nexus.NotRun && g.ok > 0 {
		r.State, r.Why = nexus.Fail, ""
	}
	r.Counts.Passed += g.ok
	r.Counted = g.log.events > 0
	for i := range r.Findings {
		r.Findings[i].Test = strings.TrimPrefix(r.Findings[i].Test, ".") // of a truncated package
	}
	return r
}

// indentPrintedLines indents lines that only look like those of go test, if that exits with code 0 and a
// test printed them: lines between the beginning and the pass of a test that belong to a test
// that never began, or to a package.
func indentPrintedLines(in ToolOutput, all []string) []string {
	if in.Exit != 0 || in.Guess || in.Cut {
		return all
	}
	result := regexp.MustCompile(`^--- (?:PASS|FAIL|SKIP): (\S+) \(`)
	began, over := map[string]bool{}, map[string]int{}
	for i, l := range all {
		if name, ok := strings.CutPrefix(l, "=== RUN   "); ok {
			began[name] = true
		} else if m := result.FindStringSubmatch(l); m != nil && strings.HasPrefix(l, "--- PASS") {
			over[m[1]] = i
		}
	}
	until := -1
	for i, l := range all {
		name, ok := strings.CutPrefix(l, "=== RUN   ")
		m := result.FindStringSubmatch(l)
		switch {
		case ok:
			until = max(until, over[name])
		case i < until && (m != nil && !began[m[1]] || strings.HasPrefix(l, "FAIL") || strings.HasPrefix(l, "ok  \t")):
			all[i] = "    " + l
		}
	}
	return all
}

func (g *goTestTextConverter) readLine(l string) {
	over := g.over.FindStringSubmatch(l)
	switch bare := g.bare.FindStringSubmatch(l); {
	case strings.HasPrefix(l, "# ") && !strings.HasPrefix(l, "# ["):
		g.builds = strings.TrimPrefix(l, "# ")
		g.log.addEvent(goTestEvent{Action: "build-output", ImportPath: g.builds, Output: l + "\n"})
	case bare != nil:
		g.builds = ""
		g.log.addEvent(goTestEvent{Action: "skip", Package: bare[1]})
	case over != nil:
		g.builds = ""
		g.endPackage(over[1], over[2], over[3])
	case g.builds != "" && !g.tests.MatchString(l):
		g.log.addEvent(goTestEvent{Action: "build-output", ImportPath: g.builds, Output: l + "\n"})
	default:
		g.builds = ""
		g.wait = append(g.wait, l)
	}
}

// endOpenSubtests ends subtests whose end was cut off when their test is known to have failed: go test
// prints them after it.
func (g *goTestTextConverter) endOpenSubtests() {
	for _, u := range g.log.order {
		i := strings.LastIndexByte(u.test, '/')
		if i < 0 || u.state != "run" {
			continue
		}
		if above := g.log.units[[2]string{u.pkg, u.test[:i]}]; above != nil && above.state == "fail" {
			g.log.addEvent(goTestEvent{Action: "fail", Package: u.pkg, Test: u.test})
		}
	}
}

// endPackage processes the result of a package, and the text that go test adds to it.
func (g *goTestTextConverter) endPackage(word, pkg, more string) {
	g.well = word == "ok  " && g.log.in.Exit == 0 && !g.log.in.Guess
	named := g.flushLines(pkg)
	g.well = false
	e := goTestEvent{Action: "pass", Package: pkg}
	switch {
	case word == "?   ":
		e.Action = "skip"
	case word == "FAIL":
		e.Action = "fail"
		if strings.Contains(more, " failed]") {
			e.FailedBuild = g.failedBuildName(pkg)
		}
	case !named && !strings.Contains(more, "[no test"):
		g.ok++
	}
	g.log.addEvent(e)
}

// failedBuildName returns the package whose build failed, for a package that does not build.
func (g *goTestTextConverter) failedBuildName(pkg string) string {
	last := pkg
	for _, last = range g.log.built {
		if name, _, _ := strings.Cut(last, " ["); name == pkg {
			break
		}
	}
	return last // or a dependency
}

// flushLines emits the buffered lines as those of a package, and reports whether they name a test.
func (g *goTestTextConverter) flushLines(pkg string) (named bool) {
	test := ""
	for _, l := range g.wait {
		began, result := g.began.FindStringSubmatch(l), g.result.FindStringSubmatch(l)
		switch {
		case began != nil:
			named, test = true, began[1]
			if strings.HasPrefix(l, "=== RUN ") {
				g.log.addEvent(goTestEvent{Action: "run", Package: pkg, Test: test})
			}
		case result != nil && (!g.well || result[1] != "FAIL"):
			named, test = true, result[2]
			g.log.addEvent(goTestEvent{Action: "output", Package: pkg, Test: test, Output: strings.TrimSpace(l) + "\n"})
			g.log.addEvent(goTestEvent{Action: strings.ToLower(result[1]), Package: pkg, Test: test})
		case l == "PASS" || l == "FAIL":
			test = ""
			if pkg != "" {
				g.log.addEvent(goTestEvent{Action: "output", Package: pkg, Output: l + "\n"})
			}
		case pkg == "" && test == "":
			g.log.other = append(g.log.other, l)
		default:
			g.log.addEvent(goTestEvent{Action: "output", Package: pkg, Test: test, Output: l + "\n"})
		}
	}
	g.wait = slices.Delete(g.wait, 0, len(g.wait))
	return named
}
