package testrunners

import (
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

// ReadJest reads jest without --json.
func ReadJest(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	all := boundedLines(in)
	c, total, counted := testCountPattern{
		line: `^Tests: +.*\d+ total`, pass: `(\d+) passed`, fail: `(\d+) failed`, skip: `(\d+) (?:skipped|todo)`, total: `(\d+) total`,
	}.countTests(all)
	r := parserbase.ParsedTestRun{Counts: c, Counted: counted, Planned: total, Empty: hasMatchingLine(all, `^No tests found, exiting`), Green: !hasMatchingLine(all, `^Test Suites: .*failed`)}
	end := regexp.MustCompile(`^Test Suites: |^Snapshot Summary|^Summary of all failing tests|^-+\|`)
	head := regexp.MustCompile(`^(?:(FAIL) (.+?)(?: \([\d.]+ m?s\))?|(PASS|RUNS) .*|  \x{25cf} (.+))$`)
	stop := regexp.MustCompile(`^\s*>? *\d+ \||^\s+at `)
	named := regexp.MustCompile(`(?:^|\s)(/?[\w@./-]+\.\w+): (.*) \((\d+):(\d+)\)$`)
	file := ""
	for _, b := range splitBlocks(all, head, end) {
		switch title := b.head[4]; {
		case b.head[1] != "":
			file = strings.TrimPrefix(b.head[2], "./")
		case title == "", title == "Console", strings.HasPrefix(title, "Cannot log after tests"), strings.Contains(title, "Warning"), strings.Contains(title, "open handle"):
		case title == "Test suite failed to run":
			f := nexus.Finding{Code: parserbase.CodeCompile, Message: joinMessage(b.lines, stop)}
			for _, l := range b.lines {
				if m := named.FindStringSubmatch(l); m != nil && in.RelativePath(m[1]) != "" {
					f.File, f.Line, f.Column, f.Message = in.RelativePath(m[1]), parserbase.ParseNumber(m[3]), parserbase.ParseNumber(m[4])+1, strings.TrimSpace(l)
					break
				}
			}
			if f.File == "" {
				placeAtFirstFrame(in, &f, b.lines, stackFramePattern())
			}
			if f.File == "" {
				f.File = in.RelativePath(file)
			}
			r.Findings = append(r.Findings, f)
		default:
			f := nexus.Finding{Code: parserbase.CodeTest, Test: nameWithFile(in, file, strings.ReplaceAll(title, " \u203a ", " > ")), Message: joinMessage(b.lines, stop)}
			placeAtFirstFrame(in, &f, b.lines, stackFramePattern())
			setExpectedAndActual(&f, b.lines, `^\s+Expected(?: \w+)*: +(.+)$`, `^\s+Received(?: \w+)*: +(.+)$`)
			r.Findings = append(r.Findings, f)
		}
	}
	return in.TestRunReport(r)
}

// ReadVitest reads vitest without a machine-readable reporter.
func ReadVitest(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	all := boundedLines(in)
	c, total, counted := testCountPattern{
		line: `^\s*Tests +(?:\d+ (?:passed|failed|skipped|todo|expected fail)|no tests)`, pass: `(\d+) (?:passed|expected fail)`, fail: `(\d+) failed`, skip: `(\d+) (?:skipped|todo)`, total: `\((\d+)\)$`,
	}.countTests(all)
	r := parserbase.ParsedTestRun{Counts: c, Counted: counted, Planned: total, Empty: hasMatchingLine(all, `^No test files found|^\s*Tests +no tests`), Green: !hasMatchingLine(all, `^\s*Test Files +.*failed`)}
	head := regexp.MustCompile(`^ FAIL  (?:\|[^|]*\| )?(.+)$`)
	rule := regexp.MustCompile(`^\x{23af}{3,}`)
	stop := regexp.MustCompile(`^ \x{276f} |^ +\d+\|`)
	where := regexp.MustCompile(`^ \x{276f} (?:.* )?(\S+?):(\d+):(\d+)$`)
	arrow := regexp.MustCompile(`^\s*[\x{256d},][-\x{2500}]*\[\s*(\S+?):(\d+):(\d+)\s*\]`)
	var waiting []string // tests with the same failure are above one text
	for _, b := range splitBlocks(all, head, rule) {
		waiting = append(waiting, b.head[1])
		if joinMessage(b.lines, nil) == "" {
			continue
		}
		for _, name := range waiting {
			f := nexus.Finding{Code: parserbase.CodeTest, Test: name, Message: joinMessage(b.lines, stop)}
			placeAtFirstFrame(in, &f, b.lines, where)
			file, _, inside := strings.Cut(name, " > ")
			if !inside {
				file, _, _ = strings.Cut(file, " [")
				f.Code, f.Test = parserbase.CodeCompile, ""
				if stack := f.Stack; f.File == "" { // the file does not parse: its position is in a frame
					placeAtFirstFrame(in, &f, b.lines, arrow)
					f.Stack = stack
				}
			}
			if f.File == "" {
				f.File = in.RelativePath(file)
			}
			readDifference(&f, b.lines)
			r.Findings = append(r.Findings, f)
		}
		waiting = nil
	}
	for _, b := range splitBlocks(all, regexp.MustCompile(`^\x{23af}{2,} (Unhandled (?:Rejection|Exception|Error)|Uncaught \w+) \x{23af}{2,}$`), rule) {
		f := nexus.Finding{Code: "unhandled", Message: joinMessage(b.lines, stop)}
		placeAtFirstFrame(in, &f, b.lines, where)
		r.Findings = append(r.Findings, f)
	}
	return in.TestRunReport(r)
}

// readDifference parses a difference: "- Expected", "+ Received" and a line of each.
func readDifference(f *nexus.Finding, all []string) {
	for i, l := range all {
		t := strings.TrimSpace(l)
		if t != "- Expected" && t != "+ expected - actual" {
			continue
		}
		swapped := t[0] == '+'
		for _, l := range all[i+1:] {
			l = strings.TrimSpace(l)
			if rest, ok := strings.CutPrefix(l, "- "); ok && !swapped && f.Expected == "" {
				f.Expected = rest
			} else if rest, ok := strings.CutPrefix(l, "+ "); ok && !swapped && f.Actual == "" && rest != "Received" {
				f.Actual = rest
			} else if rest, ok := strings.CutPrefix(l, "-"); ok && swapped && f.Actual == "" {
				f.Actual = rest
			} else if rest, ok := strings.CutPrefix(l, "+"); ok && swapped && f.Expected == "" {
				f.Expected = rest
			}
		}
		return
	}
}

// ReadMocha reads mocha's reporters spec, dot and list.
func ReadMocha(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	all := boundedLines(in)
	c, _, counted := testCountPattern{line: `^ {2}\d+ (?:passing|failing|pending)\b`, pass: `(\d+) passing`, fail: `(\d+) failing`, skip: `(\d+) pending`}.countTests(all)
	r := parserbase.ParsedTestRun{Counts: c, Counted: counted, Green: true}
	begin, sum, numbered := 0, regexp.MustCompile(`^ {2}\d+ (?:passing \(|failing$|pending$)`), regexp.MustCompile(`^ {4,}\d+\) \S`)
	if c.Failed == 0 && hasMatchingLine(all, numbered.String()) { // the summary was cut off
		r.Counts.Failed = len(slices.DeleteFunc(slices.Clone(all), func(l string) bool { return !numbered.MatchString(l) }))
	}
	for i, l := range all {
		if sum.MatchString(l) { // a title may begin with such a word, too
			begin = i // before it, failing tests are only numbered
		}
	}
	stop := regexp.MustCompile(`^\s+at |^\s+\+ expected - actual`)
	for _, b := range splitBlocks(all[begin:], regexp.MustCompile(`^ {2}\d+\) (.+?)(:?)$`), nil) {
		title, rest := []string{b.head[1]}, b.lines
		for b.head[2] == "" && len(rest) > 0 { // the title continues until a colon
			t := strings.TrimSpace(rest[0])
			rest = rest[1:]
			title = append(title, strings.TrimSuffix(t, ":"))
			if strings.HasSuffix(t, ":") || t == "" {
				break
			}
		}
		f := nexus.Finding{Code: parserbase.CodeTest, Test: strings.Join(title, " > "), Message: joinMessage(rest, stop)}
		placeAtFirstFrame(in, &f, rest, stackFramePattern())
		readDifference(&f, rest)
		r.Findings = append(r.Findings, f)
	}
	return in.TestRunReport(r)
}

// ReadNode reads node --test with the reporters spec and dot.
func ReadNode(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	all := boundedLines(in)
	c, total, counted := testCountPattern{
		line: `^(?:\x{2139}|#) (?:tests|pass|fail|cancelled|skipped|todo) \d+$`, pass: `pass (\d+)`, fail: `(?:fail|cancelled) (\d+)`,
		skip: `(?:skipped|todo) (\d+)`, total: `tests (\d+)`,
	}.countTests(all)
	r := parserbase.ParsedTestRun{Counts: c, Counted: counted, Planned: total, Green: true}
	begin := len(all)
	for i, l := range all {
		if strings.HasSuffix(l, "failing tests:") {
			begin = i + 1
		}
	}
	if begin == len(all) { // truncated, or a script that counts in the same way
		point := regexp.MustCompile(`^\s*not ok \d+ ?-? ?(.+)$`)
		for _, l := range all {
			if m := point.FindStringSubmatch(l); m != nil && !strings.Contains(m[1], "# TODO") && len(r.Findings) < parserbase.Enough {
				r.Findings = append(r.Findings, nexus.Finding{Code: parserbase.CodeTest, Test: m[1], Message: strings.TrimSpace(l)})
			}
		}
	}
	title := regexp.MustCompile(`^\s*\x{2716} (.*?)(?: \([\d.]+ms\))?$`)
	stop := regexp.MustCompile(`^\s+at |^\s+\{$|^\s+(?:generatedMessage|code): `)
	for _, b := range splitBlocks(all[begin:], regexp.MustCompile(`^test at (\S+?):(\d+):(\d+)$`), nil) {
		f := nexus.Finding{Code: parserbase.CodeTest}
		for i, l := range b.lines {
			if m := title.FindStringSubmatch(l); m != nil {
				f.Test = m[1]
				b.lines = b.lines[i+1:]
				break
			}
		}
		f.Message = joinMessage(b.lines, stop)
		placeAtFirstFrame(in, &f, b.lines, stackFramePattern())
		if f.File == "" {
			f.File, f.Line, f.Column = in.RelativePath(b.head[1]), parserbase.ParseNumber(b.head[2]), parserbase.ParseNumber(b.head[3])
		}
		setExpectedAndActual(&f, b.lines, `^\s+expected: (.+?),?$`, `^\s+actual: (.+?),?$`)
		r.Findings = append(r.Findings, f)
	}
	in.MarkUnloadableFiles(all, `^\x{2716} (\S+?)(?: \([\d.]+ms\))?$`, r.Findings)
	return in.TestRunReport(r)
}

// ReadPlaywright reads playwright test's reporters list, line and dot.
func ReadPlaywright(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	all := boundedLines(in)
	c, _, counted := testCountPattern{
		line: `^ {2}\d+ (?:passed|failed|flaky|skipped|interrupted|did not run)\b`, pass: `(\d+) passed`, fail: `(\d+) (?:failed|interrupted|did not run)`, skip: `(\d+) skipped`,
	}.countTests(all)
	r := parserbase.ParsedTestRun{Counts: c, Counted: counted, Empty: hasMatchingLine(all, `No tests found`)}
	flaky, section := map[string]bool{}, ""
	kind := regexp.MustCompile(`^ {2}\d+ (passed|failed|flaky|skipped|interrupted|did not run)\b`)
	for _, l := range all {
		if m := kind.FindStringSubmatch(l); m != nil {
			section = m[1]
		} else if section == "flaky" && strings.HasPrefix(l, "    ") {
			name := strings.Trim(l, " \u2500")
			flaky[name] = true
			r.Flaky = append(r.Flaky, nexus.FlakyTestCount{Test: playwrightTestName(name), Failed: 1, Runs: 2})
		}
	}
	ruler := regexp.MustCompile(`^\s+(?:Retry #\d+|Error Context:|attachment #\d+)|^ {2}\d+ (?:passed|failed|flaky|skipped|interrupted|did not run)\b`)
	stop := regexp.MustCompile(`^\s*>? *\d+ \||^\s+at `)
	for _, b := range splitBlocks(all, regexp.MustCompile(`^ {2}\d+\) (.*?) ?\x{2500}+$`), ruler) {
		if flaky[b.head[1]] {
			continue
		}
		f := nexus.Finding{Code: parserbase.CodeTest, Test: playwrightTestName(b.head[1]), Message: joinMessage(b.lines, stop)}
		placeAtFirstFrame(in, &f, b.lines, stackFramePattern())
		setExpectedAndActual(&f, b.lines, `^\s+Expected(?: \w+)*: +(.+)$`, `^\s+Received(?: \w+)*: +(.+)$`)
		r.Findings = append(r.Findings, f)
	}
	r.Counts.Passed += len(r.Flaky)
	return in.TestRunReport(r)
}

// SeparateMissingBrowsers separates failed tests from those that had no browser to run in.
func SeparateMissingBrowsers(read func(parserbase.ToolOutput) parserbase.ParsedToolOutput) func(parserbase.ToolOutput) parserbase.ParsedToolOutput {
	return func(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
		r := read(in)
		none := func(f nexus.Finding) bool { return strings.Contains(f.Message, "Executable doesn't exist at ") }
		if r.State != nexus.Fail || r.Counts.Failed != len(r.Findings) || !slices.ContainsFunc(r.Findings, none) {
			return r
		}
		for _, f := range r.Findings {
			if !none(f) {
				return r
			}
		}
		r.State, r.Why = nexus.Environmental, "a browser of Playwright is not installed"
		r.Findings = []nexus.Finding{{Code: parserbase.CodeMissing, Message: strings.SplitN(r.Findings[0].Message, "\n", 2)[0], Advice: "Run npx playwright install, where gates can see what it installs, or turn the gate off in nexus.toml."}}
		return r
	}
}

// playwrightTestName returns the name of a test without its position: "a.spec.js > sum > adds".
func playwrightTestName(s string) string {
	s = regexp.MustCompile(`(\.\w+):\d+:\d+ `).ReplaceAllString(s, "$1 ")
	return strings.TrimSpace(strings.ReplaceAll(s, " \u203a ", " > "))
}
