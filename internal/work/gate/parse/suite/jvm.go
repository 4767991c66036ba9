package suite

import (
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/parse/lint"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/parse/raw"
)

// Maven reads surefire and failsafe, and the compiler's errors before them.
func Maven(in raw.Input) raw.Report {
	all := text(in)
	patterns := tally{
		line: `Tests run: \d+, Failures: \d+, Errors: \d+, Skipped: \d+(?:, Flakes: \d+)?$`, fail: `(?:Failures|Errors): (\d+)`, skip: `Skipped: (\d+)`, total: `Tests run: (\d+)`,
	}
	c, _, counted := patterns.read(all)
	if !counted { // no sums: those of each class
		patterns.line = `Tests run: \d+, Failures: \d+, Errors: \d+, Skipped: \d+, Time elapsed`
		c, _, counted = patterns.read(all)
	}
	r := raw.Run{Counts: c, Counted: counted, Findings: errors(lint.JavaFindings(in, all)), Empty: !counted && has(all, `No tests to run|No tests were executed`)}
	head := regexp.MustCompile(`^\[ERROR\] +(?:([\w.$]+)\.)?(\S+?)(?:\(([\w.$]+)\))?(?: --)? +Time elapsed: .*<<< (FAILURE|ERROR)!$`)
	stop := regexp.MustCompile(`^\s+at |^\[`)
	for _, b := range blocks(all, head, regexp.MustCompile(`^\[(?:INFO|WARNING|ERROR)\]`)) {
		class := b.head[1] + b.head[3]
		f := nexus.Finding{Code: raw.CodeTest, Test: class + "." + b.head[2], Message: message(b.lines, stop)}
		javaPlace(in, &f, class, b.lines)
		javaTold(&f)
		r.Findings = append(r.Findings, f)
	}
	return in.Suite(r)
}

// javaPlace finds the frame of the test's class, and the file with the help
// of the tree.
func javaPlace(in raw.Input, f *nexus.Finding, class string, all []string) {
	where := regexp.MustCompile(`^\s*at (?:\S+/)?([\w.$]+)\.[\w$<>]+\((\w+\.\w+):(\d+)\)$`)
	var stack []string
	for _, l := range all {
		m := where.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		stack = append(stack, strings.TrimSpace(l))
		outer, _, _ := strings.Cut(m[1], "$")
		if f.File != "" || class != "" && outer != strings.Split(class, "$")[0] {
			continue
		}
		if dot := strings.LastIndexByte(outer, '.'); in.Find != nil {
			f.File = in.Find(strings.ReplaceAll(outer[:max(dot, 0)], ".", "/") + "/" + m[2])
		}
		f.Line = raw.Number(m[3])
	}
	if f.File == "" {
		f.Line = 0
	}
	f.Stack = strings.Join(stack, "\n")
}

func javaTold(f *nexus.Finding) {
	if m := regexp.MustCompile(`expected: ?<(.*?)> but was: ?<(.*?)>`).FindStringSubmatch(f.Message); m != nil {
		f.Expected, f.Actual = m[1], m[2]
	}
}

// Gradle reads the tasks that test, and the compiler's errors before them.
// Where all pass, it says nothing of tests; their reports do.
func Gradle(in raw.Input) raw.Report {
	all := text(in)
	c, total, counted := tally{line: `^\d+ tests? completed, \d+ failed`, fail: `(\d+) failed`, skip: `(\d+) skipped`, total: `^(\d+) tests? completed`}.read(all)
	r := raw.Run{Counts: c, Counted: counted, Planned: total, Findings: errors(lint.JavaFindings(in, all))}
	ended := regexp.MustCompile(`^(\S.*?) > (.+) (PASSED|SKIPPED)$`)
	for _, l := range all { // testLogging says each
		if m := ended.FindStringSubmatch(l); m != nil && !counted {
			r.Counted = true
			if m[3] == "PASSED" {
				r.Counts.Passed++
			} else {
				r.Counts.Skipped++
			}
		}
	}
	short := regexp.MustCompile(`^\s+\S+ at (\w+\.\w+):(\d+)$`)
	for _, b := range blocks(all, regexp.MustCompile(`^(\S.*?) > (.+) FAILED$`), regexp.MustCompile(`^\S|^$`)) {
		f := nexus.Finding{Code: raw.CodeTest, Test: b.head[1] + "." + strings.TrimSuffix(b.head[2], "()"), Message: message(b.lines, regexp.MustCompile(`^\s+at `))}
		javaPlace(in, &f, "", b.lines)
		for _, l := range b.lines {
			if m := short.FindStringSubmatch(l); m != nil && f.File == "" && in.Find != nil {
				if f.File = in.Find("/" + m[1]); f.File != "" {
					f.Line = raw.Number(m[2])
				}
			}
		}
		javaTold(&f)
		r.Findings = append(r.Findings, f)
		if !counted {
			r.Counts.Failed++
		}
	}
	return in.Suite(r)
}

// DotNet reads dotnet test, and the compiler's errors before it.
func DotNet(in raw.Input) raw.Report {
	all := text(in)
	c, _, counted := tally{line: `(?:Passed|Failed|Skipped)! +- Failed: +\d+, Passed: +\d+`, pass: `Passed: +(\d+)`, fail: `Failed: +(\d+)`, skip: `Skipped: +(\d+)`}.read(all)
	if !counted {
		c, _, counted = tally{line: `^(?:Total tests: \d+|\s+(?:Passed|Failed|Skipped): \d+)$`, pass: `Passed: (\d+)`, fail: `Failed: (\d+)`, skip: `Skipped: (\d+)`}.read(all)
	}
	r := raw.Run{Counts: c, Counted: counted, Findings: errors(lint.MSBuildFindings(in, all)), Empty: has(all, `^No test is available in|^No test matches`)}
	where := regexp.MustCompile(` in (\S.*?):line (\d+)$`)
	for _, b := range blocks(all, regexp.MustCompile(`^\s*Failed (\S.*?) \[[^\]]*\]$`), regexp.MustCompile(`^\s*(?:Passed|Skipped) \S.*\[|^(?:Passed|Failed)! |^$|^Total tests: `)) {
		stop := regexp.MustCompile(`^\s*Stack Trace:`)
		lines := b.lines
		if len(lines) > 0 && strings.TrimSpace(lines[0]) == "Error Message:" {
			lines = lines[1:]
		}
		f := nexus.Finding{Code: raw.CodeTest, Test: b.head[1], Message: message(lines, stop)}
		at(in, &f, lines, where)
		tell(&f, lines, `^\s*Expected: +(.+)$`, `^\s*(?:Actual|But was): +(.+)$`)
		r.Findings = append(r.Findings, f)
	}
	return in.Suite(r)
}
