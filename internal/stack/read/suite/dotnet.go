package suite

import (
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/read/lint"
	"github.com/nexus-ai-builder/nexus/internal/stack/read/raw"
)

// DotNet reads dotnet test, and the compiler's errors before it, in any of its languages: its
// numbers have the same order in all of them.
func DotNet(in raw.ToolOutput) raw.OutputReport {
	all := boundedLines(in)
	c, counted := dotnetCounts(all)
	if !counted {
		c, _, counted = countPattern{line: `^(?:Total tests: \d+|\s+(?:Passed|Failed|Skipped): \d+)$`, pass: `Passed: (\d+)`, fail: `Failed: (\d+)`, skip: `Skipped: (\d+)`}.countTests(all)
	}
	r := raw.TestRun{Counts: c, Counted: counted, Findings: blockingFindings(lint.MSBuildFindings(in, all)), Empty: hasMatchingLine(all, `^No test is available in|^No test matches`)}
	where := regexp.MustCompile(` in (\S.*?):line (\d+)$`)
	failed := regexp.MustCompile(`^\s*(?:` + strings.Join(lint.DotNetFailed(), "|") + `) (\S.*?) \[[^\]]*\]$`)
	banner := regexp.MustCompile(`^\s{0,2}\S[^.]*[:\x{ff1a}]$`) // of the message, and of the stack
	for _, b := range splitBlocks(all, failed, regexp.MustCompile(`^\s*\pL[\pL ]* \S.* \[(?:< )?\d[\d.,]* ?\pL+(?: \d+ \pL+)*\]$|^\S.*! +[-:\x{2013}\x{2014}] |^$|^Total tests: `)) {
		lines := b.lines
		if len(lines) > 0 && banner.MatchString(lines[0]) {
			lines = lines[1:]
		}
		f := nexus.Finding{Code: raw.CodeTest, Test: b.head[1], Message: joinMessage(lines, banner)}
		placeAtFirstFrame(in, &f, lines, where)
		setExpectedAndActual(&f, lines, `^\s*Expected: +(.+)$`, `^\s*(?:Actual|But was): +(.+)$`)
		r.Findings = append(r.Findings, f)
	}
	return in.SuiteReport(r)
}

// dotnetCounts reads the summary line of each assembly, or the one for all. Its numbers must
// add up.
func dotnetCounts(all []string) (c nexus.Counts, ok bool) {
	const n, sep = `\D{1,40}?(\d+)`, ` ?[,.\x{3001}\x{ff0c}]`
	four := n + sep + n + sep + n + sep + n + sep
	one := regexp.MustCompile(`^\s*\S.{0,40}?! *[-:\x{2013}\x{2014}]` + four + `.* - \S.*\.(?:dll|exe)(?: \(.+\))?$`)
	sum := regexp.MustCompile(`^\pL[\pL ]{2,40} ?[:\x{ff1a}]` + four + `\D+\d[\d.,]*\D*$`)
	add := func(failed, passed, skipped, total string) {
		if f, p, s := raw.ParseNumber(failed), raw.ParseNumber(passed), raw.ParseNumber(skipped); f+p+s == raw.ParseNumber(total) {
			c, ok = nexus.Counts{Passed: c.Passed + p, Failed: c.Failed + f, Skipped: c.Skipped + s}, true
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
