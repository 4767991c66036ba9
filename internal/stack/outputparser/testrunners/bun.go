package testrunners

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

// ReadBun reads bun test, with any of its reporters for people.
func ReadBun(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	all := in.AllLines()
	for i, l := range all {
		all[i] = l[:min(len(l), longest)]
	}
	r := bunOutputReader{in: in}
	ended := r.addSummaries(all)
	r.readAll(all)
	empty := matchingLines(all, `^No tests found!|^Test filter ".*" had no matches$|^The following filters did not match any test files:|^error: regex ".*" matched 0 tests`)
	r.run.Empty = len(empty) > 0
	green := r.run.Counted && r.run.Counts.Failed == 0 && r.green == ended
	if green { // the output of a test may look like the end of one
		r.run.Findings = slices.DeleteFunc(r.run.Findings, func(f nexus.Finding) bool { return f.Test != "" })
	} else {
		r.run.Counts.Failed = max(r.run.Counts.Failed, r.failed) // a run that stops at the first failure prints no summary
	}
	_, troubled := parserbase.MachineFaultFinding(all)
	if whole := !in.Cut && !in.Guess && !in.WasKilled() && !troubled; whole && len(r.run.Findings) == 0 && len(matchingLines(all, `^bun test v\d`)) > ended+len(empty) {
		r.run.Findings = append(r.run.Findings, nexus.Finding{
			Code: parserbase.CodeVanished, File: r.file,
			Message: fmt.Sprintf("it ended with exit code %d before all tests had, as when one of them exits", in.Exit),
		})
	}
	if table := matchingLines(all, `^All files +\|.*\|`); green && len(table) > 0 && in.Exit > 0 && len(r.run.Findings) == 0 { // it prints no message for a threshold
		r.run.Findings = append(r.run.Findings, nexus.Finding{
			Code:    parserbase.CodeCoverage,
			Message: fmt.Sprintf("every test passed, and with this coverage the exit code is %d: %s", in.Exit, strings.TrimRight(table[0], " |")),
		})
	}
	return in.TestRunReport(r.run)
}

// matchingLines returns the lines that match the pattern.
func matchingLines(all []string, pattern string) (found []string) {
	re := regexp.MustCompile(pattern)
	for _, l := range all {
		if re.MatchString(l) {
			found = append(found, l)
		}
	}
	return found
}

// bunOutputReader holds the state of reading an output.
type bunOutputReader struct {
	in      parserbase.ToolOutput
	run     parserbase.ParsedTestRun
	file    string   // that contains the tests
	begun   bool     // a test of it ended
	waiting []string // lines since the last test
	failed  int      // tests that are named as failed
	green   int      // summaries without failures
}

// addSummaries adds the summaries of all runs, and returns the number of runs that ended.
func (r *bunOutputReader) addSummaries(all []string) (ended int) {
	last := regexp.MustCompile(`^Ran (\d+) tests? across \d+ files?\.`)
	kind := regexp.MustCompile(`^ ?(\d+) (pass|fail|skip|todo)$`)
	for end, l := range all {
		m := last.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		ended++
		r.run.Counted, r.run.Planned = true, r.run.Planned+parserbase.ParseNumber(m[1])
		for i := end - 1; i >= 0 && end-i < 40 && all[i] != "" && !last.MatchString(all[i]); i-- {
			m := kind.FindStringSubmatch(all[i])
			if m == nil {
				continue
			}
			switch n := parserbase.ParseNumber(m[1]); m[2] {
			case "pass":
				r.run.Counts.Passed += n
			case "fail":
				r.run.Counts.Failed += n
				if n == 0 {
					r.green++
				}
			default:
				r.run.Counts.Skipped += n
			}
		}
	}
	return ended
}

// readAll processes files, tests and errors.
func (r *bunOutputReader) readAll(all []string) {
	head := regexp.MustCompile(`^(?:::group::)?([^\s|()][^|()]*\.\w+):$`)
	ended := regexp.MustCompile(`^(?:\((pass|fail|skip|todo)\)|([\x{2713}\x{2717}\x{bb}\x{270e}])) (.*?)(?: \(attempt (\d+)\))?(?: \[[\d.]+m?s\])?$`)
	outside := false // the error belongs to no test
	for _, l := range all {
		if len(r.run.Findings) >= parserbase.Enough {
			return
		}
		if m := ended.FindStringSubmatch(l); m != nil {
			r.endTest(cmp.Or(m[1], map[string]string{"\u2713": "pass", "\u2717": "fail"}[m[2]]), m[3], parserbase.ParseNumber(m[4]))
			continue
		}
		m := head.FindStringSubmatch(l)
		said, after := strings.CutPrefix(l, "  ^ this test ")
		switch {
		case m != nil && r.in.RelativePath(m[1]) != "":
			r.file, r.begun, r.waiting = r.in.RelativePath(m[1]), false, nil
		case l == "# Unhandled error between tests":
			outside, r.waiting = true, nil
		case outside && strings.HasPrefix(l, "-----") && len(r.waiting) > 0:
			r.addErrorOutsideTests()
			outside = false
		case strings.HasPrefix(l, "-----"), strings.HasPrefix(l, "::"):
		case after && r.lastFailedTest() != nil:
			f := r.lastFailedTest()
			f.Message = strings.TrimSpace(f.Message + "\nthis test " + said)
		case len(r.waiting) < 400:
			r.waiting = append(r.waiting, l)
		}
	}
	if f := r.waitingError(); f.Line > 0 && !r.run.Counted { // truncated before the name
		r.run.Findings = append(r.run.Findings, f)
	}
}

// endTest processes the result of a test. A result before any file was printed by code.
func (r *bunOutputReader) endTest(how, name string, attempt int) {
	f := r.waitingError()
	r.waiting, r.begun = nil, true
	if r.file == "" && f.File == "" {
		return
	}
	f.File = cmp.Or(f.File, r.file)
	f.Test = cmp.Or(r.file, f.File) + " > " + name
	switch {
	case how == "fail":
		r.failed++
		r.run.Findings = append(r.run.Findings, f)
	case how == "pass" && attempt > 1:
		r.run.Flaky = append(r.run.Flaky, nexus.FlakyTestCount{Test: f.Test, Failed: attempt - 1, Runs: attempt})
	}
}

// lastFailedTest returns the failed test of the line before; nil if there is none.
func (r *bunOutputReader) lastFailedTest() *nexus.Finding {
	if n := len(r.run.Findings); n > 0 && len(r.waiting) == 0 && r.run.Findings[n-1].Test != "" {
		return &r.run.Findings[n-1]
	}
	return nil
}

// addErrorOutsideTests processes an error outside of tests: a file that cannot be loaded, or an exception
// while no test ran.
func (r *bunOutputReader) addErrorOutsideTests() {
	f := r.waitingError()
	f.Code = "unhandled"
	if !r.begun {
		f.Code = parserbase.CodeCompile
	}
	f.File, f.Message = cmp.Or(f.File, r.file), cmp.Or(f.Message, strings.TrimSpace(strings.Join(r.waiting, "\n")))
	r.run.Findings, r.waiting = append(r.run.Findings, f), nil
}

// waitingError parses the pending error: code, a caret below it, the message, and its position.
func (r *bunOutputReader) waitingError() nexus.Finding {
	caret, thrown := regexp.MustCompile(`^\s+\^$`), regexp.MustCompile(`^(?:error|\w*Error|\w*Exception)(?: \[\w+\])?: `)
	f := nexus.Finding{Code: parserbase.CodeTest}
	begin := slices.IndexFunc(r.waiting, func(l string) bool { return caret.MatchString(l) || thrown.MatchString(l) })
	if begin < 0 {
		return f
	}
	rest := r.waiting[begin:]
	if caret.MatchString(rest[0]) {
		rest = rest[1:]
	}
	end := slices.IndexFunc(rest, regexp.MustCompile(`^\s+at |^\s*\d+ \| `).MatchString)
	if end < 0 {
		end = len(rest)
	}
	f.Message = strings.TrimPrefix(strings.TrimSpace(strings.Join(rest[:end], "\n")), "error: ")
	for _, l := range rest[:end] { // a difference; a message on a line of its own follows below
		if want, ok := strings.CutPrefix(l, "- "); ok && f.Expected == "" && !strings.HasPrefix(want, "Expected ") {
			f.Expected = strings.TrimSpace(want)
		} else if have, ok := strings.CutPrefix(l, "+ "); ok && f.Actual == "" && !strings.HasPrefix(have, "Received ") {
			f.Actual = strings.TrimSpace(have)
		}
	}
	PlaceFailure(r.in, &f, "", rest)
	return f
}
