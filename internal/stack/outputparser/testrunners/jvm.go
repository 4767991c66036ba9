package testrunners

import (
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/lint"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

// ReadMaven reads surefire and failsafe, and the compiler's errors before them.
func ReadMaven(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	all := boundedLines(in)
	r := parserbase.ParsedTestRun{Findings: blockingFindings(lint.JavaFindings(in, all))}
	r.Counts, r.Counted = readSurefireCounts(all)
	r.Green = hasMatchingLine(all, `^(?:\[INFO\] )?BUILD SUCCESS$`)
	r.Empty = !r.Counted && (hasMatchingLine(all, `No tests to run|No tests were executed|^(?:\[INFO\] )?Tests are skipped\.$`) || hasMatchingLine(all, `^\[INFO\] --- \S*surefire\S*:test `) && hasMatchingLine(all, `BUILD SUCCESS`) && !hasMatchingLine(all, `^(?:\[INFO\] )?Running \S`))
	stop := regexp.MustCompile(`^\s+at |^\[`)
	for _, b := range splitBlocks(lint.NormalizeMavenHeads(all), regexp.MustCompile(`^<<< (\S*) (.*)$`), regexp.MustCompile(`^\[(?:INFO|WARNING|ERROR)\]`)) {
		f := nexus.Finding{Code: parserbase.CodeTest, Test: strings.TrimPrefix(b.head[1]+"."+b.head[2], "."), Message: joinMessage(b.lines, stop)}
		if b.head[1] == b.head[2] { // code of the class that runs before its tests
			f.Test = b.head[1]
		}
		placeJavaFailure(in, &f, b.head[1], b.lines)
		setJavaExpectation(&f)
		if m := regexp.MustCompile(`(` + regexp.QuoteMeta(b.head[1]) + `(?:\$[A-Za-z]\w*)+)\.` + regexp.QuoteMeta(b.head[2]) + `\(`).FindStringSubmatch(f.Stack); m != nil {
			f.Test = m[1] + "." + b.head[2] // it is in a nested class
		}
		r.Findings = append(r.Findings, f)
	}
	r.Findings = append(r.Findings, lint.UnfinishedMavenTests(in, all)...)
	switch _, trouble := parserbase.MachineFaultFinding(all); {
	case len(r.Findings) > 0 || r.Counts.Failed > 0:
	case in.Exit != 0 && !trouble:
		r.Findings = lint.MavenGoalErrors(in, all)
	case in.Exit == 0 && hasMatchingLine(all, `^\[ERROR\] There (?:are test failures|was a timeout)`):
		r.Findings = []nexus.Finding{{Code: parserbase.CodeTest, Message: "there are test failures, though the command exits 0"}}
	}
	return in.TestRunReport(r)
}

// readSurefireCounts reads the counts after the word Results: tests may print similar lines. If there are
// none it adds the counts of each class.
func readSurefireCounts(all []string) (nexus.TestCounts, bool) {
	patterns := testCountPattern{
		line: `Tests run: \d+, Failures: \d+, Errors: \d+, Skipped: \d+(?:, Flakes: \d+)?$`, fail: `(?:Failures|Errors): (\d+)`, skip: `Skipped: (\d+)`, total: `Tests run: (\d+)`,
	}
	title, sum := regexp.MustCompile(`^(?:\[\w+\] )?Results ?:$`), regexp.MustCompile(patterns.line)
	var sums []string
	titled := hasMatchingLine(all, title.String())
	open := !titled
	for _, l := range all {
		switch {
		case title.MatchString(l):
			open = true
		case open && sum.MatchString(l):
			sums, open = append(sums, l), !titled
		}
	}
	c, _, counted := patterns.countTests(sums)
	if !counted {
		patterns.line = `Tests run: \d+, Failures: \d+, Errors: \d+, Skipped: \d+, Time elapsed`
		c, _, counted = patterns.countTests(all)
	}
	return c, counted
}

// placeJavaFailure finds the frame of the test's class, and the file in the tree.
func placeJavaFailure(in parserbase.ToolOutput, f *nexus.Finding, class string, all []string) {
	where := regexp.MustCompile(`^\s*at (?:\S+/)?([\w.$]+)\.[\w$<>]+\((\w+\.\w+):(\d+)\)$`)
	var stack []string
	cause := "" // the innermost
	for _, l := range all {
		if strings.HasPrefix(l, "Caused by: ") {
			cause = l
		}
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
		f.Line = parserbase.ParseNumber(m[3])
	}
	if f.File == "" {
		f.Line = 0
	}
	if f.File == "" && class != "" && in.Find != nil { // there is no frame of it
		f.File = in.Find(strings.ReplaceAll(strings.Split(class, "$")[0], ".", "/") + ".java")
	}
	f.Stack = strings.Join(stack, "\n")
	if cause != "" && !strings.Contains(f.Message, cause) {
		f.Message += "\n" + cause
	}
}

func setJavaExpectation(f *nexus.Finding) {
	if m := regexp.MustCompile(`expected: ?<(.*?)> but was: ?<(.*?)>`).FindStringSubmatch(f.Message); m != nil {
		f.Expected, f.Actual = m[1], m[2]
	}
}

// ReadGradle reads the tasks that test, and the compiler's errors before them. If all pass it
// prints nothing about tests; their reports do.
func ReadGradle(in parserbase.ToolOutput) parserbase.ParsedToolOutput {
	all := boundedLines(in)
	c, total, counted := testCountPattern{line: `^\d+ tests? completed, [1-9]\d* failed`, fail: `(\d+) failed`, skip: `(\d+) skipped`, total: `^(\d+) tests? completed`}.countTests(all)
	lost, idle := lint.UnfinishedGradleTests(all)
	r := parserbase.ParsedTestRun{Counts: c, Counted: counted, Partly: true, Planned: total, Empty: idle && !counted, Green: hasMatchingLine(all, `^BUILD SUCCESSFUL`) && !hasMatchingLine(all, `^There were failing tests`), Findings: append(blockingFindings(lint.JavaFindings(in, all)), lost...)}
	ended := regexp.MustCompile(`^(\S.*?) > (.+) (PASSED|SKIPPED)$`)
	for _, l := range all { // testLogging prints each
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
	for _, b := range splitBlocks(all, regexp.MustCompile(`^(\S.*?) > (.+) FAILED$`), regexp.MustCompile(`^\S|^$`)) {
		f := nexus.Finding{Code: parserbase.CodeTest, Test: b.head[1] + "." + strings.TrimSuffix(b.head[2], "()"), Message: joinMessage(b.lines, regexp.MustCompile(`^\s+at `))}
		placeJavaFailure(in, &f, "", b.lines)
		for _, l := range b.lines {
			if m := short.FindStringSubmatch(l); m != nil && f.File == "" && in.Find != nil {
				if f.File = in.Find("/" + m[1]); f.File != "" {
					f.Line = parserbase.ParseNumber(m[2])
				}
			}
		}
		setJavaExpectation(&f)
		r.Findings = append(r.Findings, f)
		if !counted {
			r.Counts.Failed++
		}
	}
	if _, trouble := parserbase.MachineFaultFinding(all); in.Exit != 0 && !trouble && len(r.Findings) == 0 {
		r.Findings = lint.GradleProblemFindings(in, all)
	}
	return in.TestRunReport(r)
}
