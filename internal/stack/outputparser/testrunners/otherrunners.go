package testrunners

import (
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/lint"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

type rspecReport struct {
	Examples []struct {
		FullDescription string `json:"full_description"`
		Status          string
		FilePath        string `json:"file_path"`
		LineNumber      int    `json:"line_number"`
		Exception       struct {
			Class, Message string
			Backtrace      []string
		}
	}
	Messages []string
	Summary  struct {
		ErrorsOutside int `json:"errors_outside_of_examples_count"`
	}
}

// ReadRSpec reads rspec, with -f json or as text.
func ReadRSpec(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	var j rspecReport
	if ok, _ := in.DecodeDocument(&j); ok && j.Examples != nil {
		return rspecJSON(in, j)
	}
	all := boundedLines(in)
	c, total, counted := testCountPattern{
		title: `^Finished in `, line: `^\d+ examples?, \d+ failures?`, last: true, fail: `(\d+) failures?|(\d+) errors? occurred`, skip: `(\d+) pending`, total: `^(\d+) examples?`,
	}.countTests(all)
	r := parserbase.ParsedTestRun{Counts: c, Counted: counted, Empty: counted && total == 0 && c.Failed == 0, Green: true}
	begin := len(all)
	for i, l := range all {
		if l == "Failures:" {
			begin = i
			break
		}
	}
	where := regexp.MustCompile(`^\s+# (\S+?):(\d+):in `)
	stop := regexp.MustCompile(`^\s+# `)
	for _, b := range splitBlocks(all[begin:], regexp.MustCompile(`^ {2}\d+\) (.+)$`), regexp.MustCompile(`^Finished in `)) {
		f := nexus.Finding{Code: parserbase.CodeTest, Test: b.head[1], Message: joinMessage(b.lines, stop)}
		placeAtFirstFrame(in, &f, b.lines, where)
		setExpectedAndActual(&f, b.lines, `^\s+expected: (.+)$`, `^\s+got: (.+)$`)
		r.Findings = append(r.Findings, f)
	}
	source := regexp.MustCompile(`^\s*(\S+\.rb):(\d+):(?: |in )(.*)$`)
	for _, b := range splitBlocks(all, regexp.MustCompile(`^An error occurred (?:while loading|in) (.*?)\.?$`), regexp.MustCompile(`^# /|^Finished in |^Run options|^No examples`)) {
		f := nexus.Finding{Code: parserbase.CodeCompile, File: in.RelativePath(b.head[1]), Message: joinMessage(b.lines, stop)}
		for _, l := range b.lines {
			if m := source.FindStringSubmatch(strings.TrimPrefix(l, "# ")); m != nil && in.RelativePath(m[1]) != "" {
				f.File, f.Line = in.RelativePath(m[1]), parserbase.ParseNumber(m[2])
				break
			}
		}
		r.Findings = append(r.Findings, f)
	}
	return in.TestRunReport(r)
}

func rspecJSON(in parserbase.ToolOutput, j rspecReport) parserbase.ParsedToolOutput {
	r := parserbase.ParsedTestRun{Counted: true}
	where := regexp.MustCompile(`^(\S+?):(\d+)(?::in .*)?$`)
	for _, e := range j.Examples {
		switch e.Status {
		case "passed":
			r.Counts.Passed++
		case "pending":
			r.Counts.Skipped++
		default:
			r.Counts.Failed++
			f := nexus.Finding{Code: parserbase.CodeTest, Test: parserbase.PlainText(e.FullDescription), Message: strings.TrimSpace(parserbase.PlainText(e.Exception.Message))}
			placeAtFirstFrame(in, &f, e.Exception.Backtrace, where)
			if f.File == "" {
				f.File, f.Line = in.RelativePath(e.FilePath), e.LineNumber
			}
			if e.Exception.Class != "" && !strings.Contains(e.Exception.Class, "ExpectationNotMet") {
				f.Message = e.Exception.Class + ": " + f.Message
			}
			setExpectedAndActual(&f, strings.Split(f.Message, "\n"), `^\s*expected: (.+)$`, `^\s*got: (.+)$`)
			r.Findings = append(r.Findings, f)
		}
	}
	if j.Summary.ErrorsOutside > 0 {
		r.Findings = append(r.Findings, nexus.Finding{Code: parserbase.CodeCompile, Message: parserbase.PlainText(strings.Join(j.Messages, "\n"))})
	}
	return in.TestRunReport(r)
}

// ReadMinitest reads minitest, also in the form of Rails.
func ReadMinitest(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	all := boundedLines(in)
	c, total, counted := testCountPattern{
		title: `^Finished in `, line: `^\d+ (?:runs|tests), \d+ assertions, \d+ failures, \d+ errors, \d+ (?:skips|pendings|omissions)`, fail: `(\d+) failures|(\d+) errors`, skip: `(\d+) (?:skips|pendings|omissions)`, total: `^(\d+) (?:runs|tests)`,
	}.countTests(all)
	r := parserbase.ParsedTestRun{Counts: c, Counted: counted, Empty: counted && total == 0, Green: true}
	name := regexp.MustCompile(`^(\S.*?)(?: \[(\S+?):(\d+)\])?:$`)
	where := regexp.MustCompile(`^\s+(\S+?\.rb):(\d+):in `)
	for _, b := range splitBlocks(all, regexp.MustCompile(`^\s*(?:\d+\) )?(Failure|Error|Skipped):$`), regexp.MustCompile(`^\d+ (?:runs|tests), |^(?:bin/)?rails test |^Finished in `)) {
		if b.head[1] == "Skipped" || len(b.lines) == 0 {
			continue
		}
		f := nexus.Finding{Code: parserbase.CodeTest, Test: strings.TrimSuffix(b.lines[0], ":")}
		if m := name.FindStringSubmatch(b.lines[0]); m != nil {
			f.Test = m[1]
			if f.File = in.RelativePath(m[2]); m[2] == "" {
				f.File = ""
			} else {
				f.Line = parserbase.ParseNumber(m[3])
			}
		}
		f.Message = joinMessage(b.lines[1:], where)
		placeAtFirstFrame(in, &f, b.lines[1:], where)
		setExpectedAndActual(&f, b.lines, `^Expected: (.+)$`, `^\s*Actual: (.+)$`)
		r.Findings = append(r.Findings, f)
	}
	first := regexp.MustCompile(`^(\S+?\.rb):(\d+):in `)
	for _, b := range splitBlocks(all, regexp.MustCompile(`^(?:Failure|Error): (\S.*)$`), regexp.MustCompile(`^={10,}$`)) { // test-unit
		f := nexus.Finding{Code: parserbase.CodeTest, Test: b.head[1], Message: joinMessage(b.lines, nil)}
		placeAtFirstFrame(in, &f, b.lines, first)
		r.Findings = append(r.Findings, f)
	}
	return in.TestRunReport(r)
}

// ReadPHPUnit reads phpunit and Pest's summary.
func ReadPHPUnit(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	all := boundedLines(in)
	c, _, counted := testCountPattern{
		title: `^Time: `, line: `^Tests: \d+, Assertions: \d+.*\.$|^OK \(\d+ tests?, .*\)`, fail: `(?:Errors|Failures): (\d+)`, skip: `(?:Skipped|Incomplete): (\d+)`, total: `^Tests: (\d+)|^OK \((\d+) tests?`,
	}.countTests(all)
	r := parserbase.ParsedTestRun{Counts: c, Counted: counted, Empty: hasMatchingLine(all, `^No tests executed!`), Green: true}
	section := regexp.MustCompile(`^There (?:was|were) \d+ (.*?)s?:$`)
	where := regexp.MustCompile(`^(\S+\.\w+):(\d+)$`)
	kind := ""
	for _, b := range splitBlocks(all, regexp.MustCompile(`^(?:\d+\) (\S+::.+)|There (?:was|were) (\d+) (.*?)s?:)$`), regexp.MustCompile(`^--$|^(?:ERRORS|FAILURES|WARNINGS|OK).*[!)]$|^Tests: \d+`)) {
		if b.head[1] == "" {
			kind = section.FindStringSubmatch(b.head[0])[1]
			continue
		}
		if kind != "error" && kind != "failure" && kind != "" {
			continue
		}
		f := nexus.Finding{Code: parserbase.CodeTest, Test: b.head[1], Message: joinMessage(b.lines, where)}
		placeAtFirstFrame(in, &f, b.lines, where)
		setExpectedAndActual(&f, b.lines, `is identical to (.+)\.$|matches expected (.+)\.$`, `^Failed asserting that (.+?) (?:is identical to|matches expected)`)
		r.Findings = append(r.Findings, f)
	}
	testdox := regexp.MustCompile(`^ {3}\x{2502} ?`)
	for _, b := range splitBlocks(all, regexp.MustCompile(`^ \x{2718} (.+?)(?: +\[[\d.]+ ms\])?$`), regexp.MustCompile(`^ [\x{2714}\x{21a9}\x{2622}\x{2205}] |^$`)) {
		var lines []string
		for _, l := range b.lines {
			lines = append(lines, testdox.ReplaceAllString(l, ""))
		}
		f := nexus.Finding{Code: parserbase.CodeTest, Test: b.head[1], Message: joinMessage(lines, where)}
		placeAtFirstFrame(in, &f, lines, where)
		r.Findings = append(r.Findings, f)
	}
	r.Findings = append(r.Findings, blockingFindings(lint.PHPFindings(in))...)
	return in.TestRunReport(r)
}

// ReadDeno reads deno test.
func ReadDeno(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	all := boundedLines(in)
	c, _, counted := testCountPattern{line: `^(?:ok|FAILED) \| \d+ passed\b`, pass: `(\d+) passed`, fail: `(\d+) failed`, skip: `(\d+) ignored`}.countTests(all)
	r := parserbase.ParsedTestRun{Counts: c, Counted: counted, Green: true}
	stop := regexp.MustCompile(`^\s+(?:throw|at) `)
	for _, b := range splitBlocks(all, regexp.MustCompile(`^(\S.*) => (\S+?):(\d+):(\d+)$`), regexp.MustCompile(`^ (?:FAILURES|ERRORS) $|^(?:ok|FAILED) \| `)) {
		if joinMessage(b.lines, nil) == "" {
			continue // the list at the end
		}
		f := nexus.Finding{Code: parserbase.CodeTest, Test: b.head[1], Message: strings.TrimPrefix(joinMessage(b.lines, stop), "error: ")}
		placeAtFirstFrame(in, &f, b.lines, regexp.MustCompile(`^\s+at (?:.*\()?(file://\S+?):(\d+):(\d+)\)?$`))
		if f.File == "" {
			f.File, f.Line, f.Column = in.RelativePath(b.head[2]), parserbase.ParseNumber(b.head[3]), parserbase.ParseNumber(b.head[4])
		}
		r.Findings = append(r.Findings, f)
	}
	return in.TestRunReport(r)
}
