// Package testrunners reads the text output of test runners: the failed tests, their positions and
// messages, and the number of tests.
package testrunners

import (
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

// longest is the number of bytes of a line that are read.
const longest = 4 << 10

// boundedLines returns the lines of the output, each of a limited length.
func boundedLines(in parserbase.ToolOutput) []string {
	all := in.AllLines()
	for i, l := range all {
		all[i] = l[:min(len(l), longest)]
	}
	return all
}

// stackFramePattern matches a stack frame: a file, a line and perhaps a column at the end of a line.
func stackFramePattern() *regexp.Regexp {
	return regexp.MustCompile(`(?:^|[\s(@])((?:file://)?[^\s():]+\.[A-Za-z]\w{0,9}):(\d+)(?::(\d+))?(?::in .*|\)?:?)$`)
}

// isForeignFile reports whether a file is not the project's own.
func isForeignFile(file string) bool {
	for _, dir := range []string{"node_modules/", "site-packages/", "dist-packages/", "vendor/", ".venv/", "venv/", "rubygems", "/gems/", "rustc/", "library/std/"} {
		if strings.Contains(file, dir) {
			return true
		}
	}
	return false
}

// placeAtFirstFrame sets the position of a finding to the first frame in the tree.
func placeAtFirstFrame(in parserbase.ToolOutput, f *nexus.Finding, all []string, re *regexp.Regexp) {
	var stack []string
	for _, l := range all {
		m := re.FindStringSubmatch(l)
		if m == nil {
			continue
		}
		if len(stack) < 20 {
			stack = append(stack, strings.TrimSpace(l))
		}
		if file := in.RelativePath(m[1]); f.File == "" && file != "" && !isForeignFile(m[1]) && (!strings.HasPrefix(m[1], "/") || in.Root != "") {
			f.File, f.Line = file, parserbase.ParseNumber(m[2])
			if len(m) > 3 {
				f.Column = parserbase.ParseNumber(m[3])
			}
		}
	}
	f.Stack = strings.Join(stack, "\n")
}

// PlaceFailure sets the position of a failure, and the expected and actual values, from the text with
// which any runner explains it.
func PlaceFailure(in parserbase.ToolOutput, f *nexus.Finding, class string, lines []string) {
	switch {
	case hasMatchingLine(lines, `^E {2,}\S`):
		said := f.Message
		readPytestTraceback(in, f, lines)
		if f.Message == "" {
			f.Message = said
		}
	case hasMatchingLine(lines, `^\s*at \S+\(\w+\.(?:java|kt|groovy|scala):\d+\)$`):
		placeJavaFailure(in, f, class, lines)
	case hasMatchingLine(lines, `^\(in (?:test )?file \S+, line \d+\)$`):
		placeAtFirstFrame(in, f, lines, regexp.MustCompile(`^\(in (?:test )?file (\S+), line (\d+)\)$`))
		f.Stack = ""
	case hasMatchingLine(lines, ` in \S.*?:line \d+$`):
		placeAtFirstFrame(in, f, lines, regexp.MustCompile(` in (\S.*?):line (\d+)$`))
	case hasMatchingLine(lines, `^ \x{276f} .*:\d+:\d+$`):
		placeAtFirstFrame(in, f, lines, regexp.MustCompile(`^ \x{276f} (?:.* )?(\S+?):(\d+):(\d+)$`))
	case hasMatchingLine(lines, `^\s+File ".*", line \d+`):
		placeAtFirstFrame(in, f, lines, regexp.MustCompile(`^\s+File "([^"]+)", line (\d+)`))
	case hasMatchingLine(lines, `panicked at \S+:\d+:\d+:$`):
		readPanic(in, f, lines)
	default:
		placeAtFirstFrame(in, f, lines, stackFramePattern())
	}
	setJavaExpectation(f)
	readDifference(f, lines)
	setExpectedAndActual(f, lines, `^\s*(?i:expected)(?: \w+)*: +(.+?),?$`, `^\s*(?i:received|actual|got)(?: \w+)*: +(.+?),?$`)
}

// headedOutputBlock is a part of the output that begins with a headline.
type headedOutputBlock struct {
	head  []string // groups of the headline
	lines []string
}

// splitBlocks splits the output into parts that begin where head matches and end where the next
// begins or end matches.
func splitBlocks(all []string, head, end *regexp.Regexp) []headedOutputBlock {
	var found []headedOutputBlock
	open := false
	for _, l := range all {
		switch m := head.FindStringSubmatch(l); {
		case m != nil && len(found) == parserbase.Enough:
			return found
		case m != nil:
			found, open = append(found, headedOutputBlock{head: m}), true
		case open && end != nil && end.MatchString(l):
			open = false
		case open:
			b := &found[len(found)-1]
			if len(b.lines) < 400 {
				b.lines = append(b.lines, l)
			}
		}
	}
	return found
}

// joinMessage joins lines up to the first that stop matches, without their common indentation,
// empty lines at the ends, and colours of rulers.
func joinMessage(all []string, stop *regexp.Regexp) string {
	var kept []string
	for _, l := range all {
		if stop != nil && stop.MatchString(l) {
			break
		}
		if strings.TrimSpace(l) != "" || len(kept) > 0 {
			kept = append(kept, l)
		}
		if len(kept) == 40 {
			break
		}
	}
	return strings.TrimSpace(dedentLines(kept))
}

func dedentLines(all []string) string {
	least := -1
	for _, l := range all {
		if t := strings.TrimLeft(l, " "); t != "" && (least < 0 || len(l)-len(t) < least) {
			least = len(l) - len(t)
		}
	}
	var b strings.Builder
	for _, l := range all {
		b.WriteString(strings.TrimRight(l[min(len(l), max(least, 0)):], " ") + "\n")
	}
	return b.String()
}

// setExpectedAndActual sets the expected and actual values of a test, if lines contain them.
func setExpectedAndActual(f *nexus.Finding, all []string, want, have string) {
	wants, has := regexp.MustCompile(want), regexp.MustCompile(have)
	for _, l := range all {
		if m := wants.FindStringSubmatch(l); m != nil && f.Expected == "" {
			f.Expected = m[1]
		}
		if m := has.FindStringSubmatch(l); m != nil && f.Actual == "" {
			f.Actual = m[1]
		}
	}
}

// testCountPattern is one way of printing the number of tests.
type testCountPattern struct {
	title string // pattern of a line that comes before one that counts; if none matches, all count
	line  string // pattern of the lines that count
	last  bool   // only the last such line counts, not their sum
	pass  string // patterns whose group is a number
	fail  string
	skip  string
	total string
}

// countTests returns the counts; ok is false if no line contains the number of tests.
func (t testCountPattern) countTests(all []string) (c nexus.TestCounts, total int, ok bool) {
	line := regexp.MustCompile(t.line)
	get := func(pattern string) func(string) int {
		if pattern == "" {
			return func(string) int { return 0 }
		}
		re := regexp.MustCompile(pattern)
		return func(l string) (n int) {
			for _, m := range re.FindAllStringSubmatch(l, -1) {
				for _, g := range m[1:] {
					n += parserbase.ParseNumber(g)
				}
			}
			return n
		}
	}
	pass, fail, skip, sum := get(t.pass), get(t.fail), get(t.skip), get(t.total)
	titled := t.title != "" && hasMatchingLine(all, t.title)
	title, open := regexp.MustCompile(t.title), !titled
	for _, l := range all {
		open = open || title.MatchString(l)
		if !open || !line.MatchString(l) {
			continue
		}
		open = !titled
		if t.last {
			c, total = nexus.TestCounts{}, 0
		}
		ok = true
		c.Passed += pass(l)
		c.Failed += fail(l)
		c.Skipped += skip(l)
		total += sum(l)
	}
	if t.pass == "" {
		c.Passed = max(0, total-c.Failed-c.Skipped)
	}
	return c, total, ok
}

// hasMatchingLine reports whether a line matches the pattern.
func hasMatchingLine(all []string, pattern string) bool {
	re := regexp.MustCompile(pattern)
	for _, l := range all {
		if re.MatchString(l) {
			return true
		}
	}
	return false
}
