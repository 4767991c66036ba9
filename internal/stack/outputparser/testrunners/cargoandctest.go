package testrunners

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/lint"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

// blockingFindings returns those of a compiler's findings that keep tests from running.
func blockingFindings(all []nexus.Finding) []nexus.Finding {
	var kept []nexus.Finding
	for _, f := range all {
		if parserbase.IsBlocking(f) {
			kept = append(kept, f)
		}
	}
	return kept
}

// ReadCargo reads cargo test and cargo nextest run.
func ReadCargo(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	all := boundedLines(in)
	if in.Exit == 0 && !in.Guess && !in.Cut {
		all = dropCargoTestOutput(all)
	}
	c, _, counted := testCountPattern{line: `^test result: `, pass: `(\d+) passed`, fail: `(\d+) failed`, skip: `(\d+) ignored`}.countTests(all)
	r := parserbase.ParsedTestRun{Counts: c, Counted: counted, Findings: blockingFindings(lint.RustcFindings(in, all)), Green: !hasMatchingLine(all, `^test result: FAILED|^error: could not compile `)}
	running := regexp.MustCompile(`^running (\d+) tests?$`)
	for _, l := range all {
		if m := running.FindStringSubmatch(l); m != nil {
			r.Planned += parserbase.ParseNumber(m[1])
		}
	}
	if hasMatchingLine(all, `^\s+Summary \[`) {
		readNextest(in, all, &r)
	} else {
		r.Findings = append(r.Findings, cargoTests(in, all)...)
	}
	if m := regexp.MustCompile(`(?m)^  process didn't exit successfully: .*\((signal: .*)\)$`).FindStringSubmatch(strings.Join(all, "\n")); m != nil {
		r.Findings = append(r.Findings, nexus.Finding{Code: parserbase.CodePanic, Message: "the test process ended: " + m[1]})
	}
	return in.TestRunReport(r)
}

// dropCargoTestOutput returns the lines with results of tests. Of the lines between the beginning and the
// final pass of a test program it drops the others: the tests printed them.
func dropCargoTestOutput(all []string) []string {
	kept, begin := []string{}, -1 // begin is the index in kept at which the tests begin
	for _, l := range all {
		switch {
		case strings.HasPrefix(l, "running ") && strings.Contains(l, " test"):
			begin = len(kept)
		case strings.HasPrefix(l, "test result: ok. ") && begin >= 0:
			part := kept[begin:]
			kept = append(kept[:begin], slices.DeleteFunc(part, func(l string) bool {
				ended := strings.HasPrefix(l, "test ") && (strings.HasSuffix(l, " ... ok") || strings.Contains(l, " ... ignored"))
				return !ended && !strings.HasPrefix(l, "running ")
			})...)
		}
		kept = append(kept, l)
	}
	return kept
}

func cargoTests(in parserbase.ToolOutput, all []string) []nexus.Finding {
	said := map[string][]string{}
	for _, b := range splitBlocks(all, regexp.MustCompile(`^---- (.+?)(?: stdout)? ----$`), regexp.MustCompile(`^failures:$|^test result: `)) {
		said[b.head[1]] = b.lines
	}
	failed := regexp.MustCompile(`^test (.+?)(?: - should panic)? \.\.\. FAILED$`)
	quiet := hasMatchingLine(all, `^\S+ --- FAILED$`)
	var found []nexus.Finding
	for _, l := range all {
		m := failed.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		f := nexus.Finding{Code: parserbase.CodeTest, Test: m[1]}
		readPanic(in, &f, said[m[1]])
		if f.Message == "" {
			f.Message = "failed without a message"
		}
		found = append(found, f)
		delete(said, m[1])
	}
	for test, lines := range said { // with --quiet there is no line for each
		f := nexus.Finding{Code: parserbase.CodeTest, Test: test}
		if readPanic(in, &f, lines); quiet {
			f.Message = cmp.Or(f.Message, "failed without a message")
			found = append(found, f)
		}
	}
	return found
}

// readPanic parses the message of a thread that panicked.
func readPanic(in parserbase.ToolOutput, f *nexus.Finding, lines []string) {
	now := regexp.MustCompile(`^\s*thread '.*?'(?: \(\d+\))? panicked at (\S+?):(\d+):(\d+):$|^note: test did not panic as expected at (\S+?):(\d+):(\d+)$`)
	old := regexp.MustCompile(`^\s*thread '.*?' panicked at '(.*)', (\S+?):(\d+):(\d+)$`)
	doc := regexp.MustCompile(`^(?:error|warning)(?:\[(\w+)\])?: (.*)$`)
	stop := regexp.MustCompile(`^\s*(?:stack backtrace:|note: |std(?:out|err) \x{2500}{3})`)
	for i, l := range lines {
		if m := now.FindStringSubmatch(l); m != nil {
			f.File, f.Line, f.Column, f.Message = in.RelativePath(m[1]+m[4]), parserbase.ParseNumber(m[2]+m[5]), parserbase.ParseNumber(m[3]+m[6]), joinMessage(lines[i+1:], stop)
			break
		}
		if m := old.FindStringSubmatch(l); m != nil {
			f.File, f.Line, f.Column, f.Message = in.RelativePath(m[2]), parserbase.ParseNumber(m[3]), parserbase.ParseNumber(m[4]), m[1]
			break
		}
		if m := doc.FindStringSubmatch(l); m != nil && f.Message == "" {
			f.Message = l
		}
	}
	if f.Message == "" {
		f.Message = joinMessage(lines, stop)
	}
	setExpectedAndActual(f, lines, `^\s+right: (.+)$`, `^\s+left: (.+)$`)
	if i := strings.IndexByte(f.Test, ' '); f.File == "" && i > 0 && strings.Contains(f.Test, " (line ") { // a test in a comment
		f.File = in.RelativePath(f.Test[:i])
		if m := regexp.MustCompile(`\(line (\d+)\)`).FindStringSubmatch(f.Test); m != nil {
			f.Line = parserbase.ParseNumber(m[1])
		}
	}
}

// readNextest reads the lines of cargo nextest.
func readNextest(in parserbase.ToolOutput, all []string, r *parserbase.ParsedTestRun) {
	c, total, counted := testCountPattern{
		line: `^\s+Summary \[`, last: true, pass: `(\d+) passed`, fail: `(\d+) (?:failed|timed out|exec failed)`, skip: `(\d+) skipped`, total: `(\d+)(?:/\d+)? tests? run`,
	}.countTests(all)
	r.Counts, r.Counted, r.Planned = c, counted, 0
	if m := regexp.MustCompile(`(\d+)/(\d+) tests? run`).FindStringSubmatch(strings.Join(all, "\n")); m != nil {
		r.Planned = parserbase.ParseNumber(m[2]) + c.Skipped
	}
	r.Empty = counted && total == 0
	said := map[string][]string{}
	for _, b := range splitBlocks(all, regexp.MustCompile(`^(?:--- (?:TRY \d+ )?STD(?:ERR|OUT): +|\s+(?:TRY \d+ )?(?:FAIL|SIG\w+|TIMEOUT|ABORT) \[\s*[\d.]+s\] (?:\([^)]*\) )?)(\S.*?)(?: ---)?$`), regexp.MustCompile(`^\s+(?:(?:TRY \d+ )?PASS|SKIP|Summary|SLOW|LEAK|FLAKY|Cancelling) |^warning: |^error: test run failed|^\x{2500}{3}`)) {
		said[strings.Join(strings.Fields(b.head[1]), " ")] = append(said[strings.Join(strings.Fields(b.head[1]), " ")], b.lines...)
	}
	row := regexp.MustCompile(`^\s+(TRY \d+ )?(FAIL|SIG\w+|TIMEOUT|ABORT|FLAKY \d+/\d+) \[\s*[\d.]+s\] (?:\([^)]*\) )?(\S.*)$`)
	seen, over := map[string]bool{}, false
	for _, l := range all {
		over = over || strings.HasPrefix(strings.TrimSpace(l), "Summary [")
		m := row.FindStringSubmatch(l)
		if m == nil || m[1] != "" && !over { // the next try may pass; the last one is below the summary
			continue
		}
		m = m[1:]
		name := strings.Join(strings.Fields(m[2]), " ")
		if seen[name] {
			continue // the failures are named once more at the end
		}
		seen[name] = true
		if strings.HasPrefix(m[1], "FLAKY") {
			r.Flaky = append(r.Flaky, nexus.FlakyTestCount{Test: name, Failed: 1, Runs: 2})
			continue
		}
		f := nexus.Finding{Code: parserbase.CodeTest, Test: name}
		readPanic(in, &f, said[name])
		switch {
		case m[1] == "TIMEOUT":
			f.Code = parserbase.CodeTimeout
		case m[1] != "FAIL":
			f.Code = parserbase.CodePanic
		}
		if f.Message == "" {
			f.Message = strings.ToLower(m[1])
		}
		r.Findings = append(r.Findings, f)
	}
}

// ReadCTest reads ctest, and the output of CMake and the compiler before it.
func ReadCTest(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	all := boundedLines(in)
	r := parserbase.ParsedTestRun{Findings: blockingFindings(lint.GCCFindings(in, all)), Empty: hasMatchingLine(all, `^No tests were found!!!`), Green: hasMatchingLine(all, `^100% tests passed, `)}
	if m := regexp.MustCompile(`(?m)^\d+% tests passed, \d+ tests? failed out of (\d+)`).FindStringSubmatch(strings.Join(all, "\n")); m != nil {
		r.Counted, r.Planned = true, parserbase.ParseNumber(m[1])
	}
	row := regexp.MustCompile(`^\s*\d+/\d+ Test +#\d+: (\S+) \.*\s*(Passed|.*?\*\*\*([^\d]*?)) +[\d.]+ sec`)
	place := regexp.MustCompile(`^\s*(?:[\w./-]+: )?([^\s:()]+\.\w+):(\d+)(?::(\d+))?: (.*)$`)
	next := regexp.MustCompile(`^\s*Start +\d+: |^\d+% tests passed|^The following tests `)
	gone := map[string]bool{}
	for _, b := range splitBlocks(all, row, next) {
		gone[b.head[1]] = true
		switch how := strings.TrimSpace(b.head[3]); {
		case b.head[2] == "Passed":
			r.Counts.Passed++
		case how == "Skipped", strings.HasPrefix(how, "Not Run (Disabled)"):
			r.Counts.Skipped++
		default:
			r.Counts.Failed++
			f := nexus.Finding{Code: parserbase.CodeTest, Test: b.head[1], Message: strings.TrimSpace(strings.ToLower(how) + "\n" + joinMessage(b.lines, nil))}
			switch {
			case strings.HasPrefix(how, "Timeout"):
				f.Code = parserbase.CodeTimeout
			case strings.HasPrefix(how, "Exception"):
				f.Code = parserbase.CodePanic
			case strings.HasPrefix(how, "Not Run"):
				f.Code = parserbase.CodeVanished
			}
			for _, l := range b.lines {
				if m := place.FindStringSubmatch(l); m != nil && in.RelativePath(m[1]) != "" {
					f.File, f.Line, f.Column = in.RelativePath(m[1]), parserbase.ParseNumber(m[2]), parserbase.ParseNumber(m[3])
					break
				}
			}
			r.Findings = append(r.Findings, f)
		}
	}
	return in.TestRunReport(r)
}
