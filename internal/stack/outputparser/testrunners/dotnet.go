package testrunners

import (
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/lint"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

// ReadDotNet reads dotnet test, and the compiler's errors before it, in any of its languages: its
// numbers have the same order in all of them.
func ReadDotNet(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	all := boundedLines(in)
	c, counted := readDotnetCounts(all)
	if !counted {
		c, _, counted = testCountPattern{line: `^(?:Total tests: \d+|\s+(?:Passed|Failed|Skipped): \d+)$`, pass: `Passed: (\d+)`, fail: `Failed: (\d+)`, skip: `Skipped: (\d+)`}.countTests(all)
	}
	r := parserbase.ParsedTestRun{Counts: c, Counted: counted, Findings: blockingFindings(lint.MSBuildFindings(in, all)), Empty: hasMatchingLine(all, `^No test is available in|^No test matches`)}
	where := regexp.MustCompile(` in (\S.*?):line (\d+)$`)
	failed := regexp.MustCompile(`^\s*(?:` + strings.Join(lint.DotNetFailureWords(), "|") + `) (\S.*?) \[[^\]]*\]$`)
	banner := regexp.MustCompile(`^\s{0,2}\S[^.]*[:\x{ff1a}]$`) // of the message, and of the stack
	for _, b := range splitBlocks(all, failed, regexp.MustCompile(`^\s*\pL[\pL ]* \S.* \[(?:< )?\d[\d.,]* ?\pL+(?: \d+ \pL+)*\]$|^\S.*! +[-:\x{2013}\x{2014}] |^$|^Total tests: `)) {
		lines := b.lines
		if len(lines) > 0 && banner.MatchString(lines[0]) {
			lines = lines[1:]
		}
		f := nexus.Finding{Code: parserbase.CodeTest, Test: b.head[1], Message: joinMessage(lines, banner)}
		placeAtFirstFrame(in, &f, lines, where)
		setExpectedAndActual(&f, lines, `^\s*Expected: +(.+)$`, `^\s*(?:Actual|But was): +(.+)$`)
		r.Findings = append(r.Findings, f)
	}
	return in.TestRunReport(r)
}

// readDotnetCounts reads the summary line of each assembly, or the one for all. Its numbers must
// add up.
func readDotnetCounts(all []string) (c nexus.TestCounts, ok bool) {
	const n, sep = `\D{1,40}?(\d+)`, ` ?[,.\x{3001}\x{ff0c}]`
	four := n + sep + n + sep + n + sep + n + sep
	one := regexp.MustCompile(`^\s*\S.{0,40}?! *[-:\x{2013}\x{2014}]` + four + `.* - \S.*\.(?:dll|exe)(?: \(.+\))?$`)
	sum := regexp.MustCompile(`^\pL[\pL ]{2,40} ?[:\x{ff1a}]` + four + `\D+\d[\d.,]*\D*$`)
	add := func(failed, passed, skipped, total string) {
		if f, p, s := parserbase.ParseNumber(failed), parserbase.ParseNumber(passed), parserbase.ParseNumber(skipped); f+p+s == parserbase.ParseNumber(total) {
			c, ok = nexus.TestCounts{Passed: c.Passed + p, Failed: c.Failed + f, Skipped: c.Skipped + s}, true
		}
	}
	for _, l := range all {
		if m := one.FindStringSubmatch(l); m != nil {
			add(m[1], m[2], m[3], m[4])
		}
	}
	for _, l := range all {
		if m := sum.FindStringSubmatch(l); m != nil && !ok {
			add(m[2], m[3], m[4], m[1])
		}
	}
	return c, ok
}
