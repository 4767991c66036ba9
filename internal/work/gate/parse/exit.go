package parse

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// readExit reads a command that exits 0 when all is well. Where it runs
// tests, it must also say how many.
func readExit(in Input) Report {
	all := append(lines(in.Stdout), lines(in.Stderr)...)
	var r Report
	counted := false
	if in.Tests {
		r.Counts, counted = count(all)
	}
	switch {
	case in.Exit == 0 && !in.Tests:
		r.State = nexus.Pass
	case in.Exit == 0 && !counted:
		r.State, r.Why = nexus.Unverifiable, "it exits 0, but nothing in its output says how many tests ran"
	case in.Exit == 0 && r.Counts.Failed == 0:
		r.State = nexus.Pass // settle wants at least one that passed
	case in.Exit < 0 || in.Exit == 137:
		r.State, r.Why = nexus.Environmental, "it was killed"
	case in.Exit == 127 && missing(all) != "":
		r.State, r.Why = nexus.NotRun, missing(all)
	case in.Exit == 126:
		r.State, r.Why = nexus.NotRun, "the command cannot be executed: "+lastLines(in)
	case in.Exit == 5 && counted && r.Counts == (nexus.Counts{}):
		r.State, r.Why = nexus.NotRun, "no test ran"
	default:
		r.State = nexus.Fail
		r.Findings = findings(in, all)
		if len(r.Findings) == 0 && in.Exit == 0 {
			r.Findings = []nexus.Finding{{Code: codeTest, Message: fmt.Sprintf("%d tests failed, though the command exits 0", r.Counts.Failed)}}
		}
	}
	return r
}

// missing returns the line in which a shell misses a command.
func missing(all []string) string {
	i := slices.IndexFunc(all, func(l string) bool {
		return strings.Contains(l, "not found") || strings.Contains(l, "No such file or directory")
	})
	if i < 0 {
		return ""
	}
	return clip(all[i])
}

// findings looks for the ways in which most tools name a place or a test.
func findings(in Input, all []string) []nexus.Finding {
	pos := anyPositions()
	arrow := regexp.MustCompile(`^\s*--> ([^:]+):(\d+):(\d+)$`)
	python := regexp.MustCompile(`^\s*File "([^"]+)", line (\d+)`)
	rust := regexp.MustCompile(`^(?:error|warning)(?:\[(\w+)\])?: (.*)$`)
	test := regexp.MustCompile(`^(?:FAILED (\S+?)(?: - (.*))?|test (\S+) \.\.\. FAILED|--- FAIL: (\S+) \(.*|not ok \d+ -? ?(.*)|\s+\x{25cf} (.+ \x{203a} .+))$`)
	var found []nexus.Finding
	var said nexus.Finding // the message that waits for its place
	for i, l := range all {
		l = l[:min(len(l), 2*maxMessage)]
		switch {
		case len(found) > maxFindings:
			return found
		case rust.MatchString(l):
			m := rust.FindStringSubmatch(l)
			said = nexus.Finding{Code: m[1], Message: m[2]}
		case arrow.MatchString(l):
			m := arrow.FindStringSubmatch(l)
			f := said
			f.File, f.Line, f.Column = in.place(m[1]), number(m[2]), number(m[3])
			f.Message, said = cmp.Or(f.Message, strings.TrimSpace(l)), nexus.Finding{}
			found = append(found, f)
		case python.MatchString(l):
			m := python.FindStringSubmatch(l)
			if file := in.place(m[1]); file != "" && raised(all[i+1:]) != "" {
				found = append(found, nexus.Finding{File: file, Line: number(m[2]), Message: raised(all[i+1:])})
			}
		case test.MatchString(l):
			m := test.FindStringSubmatch(l)
			name := cmp.Or(m[1], m[3], m[4], m[5], m[6])
			found = append(found, nexus.Finding{Code: codeTest, Test: name, Message: cmp.Or(m[2], strings.TrimSpace(l))})
		default:
			if f, ok := pos.at(in, l); ok && f.File != "" && !harmless(l) {
				found = append(found, f)
			}
		}
	}
	return found
}

// raised returns the exception that ends a Python traceback, if this was its
// innermost frame.
func raised(rest []string) string {
	for i, l := range rest {
		switch {
		case strings.HasPrefix(strings.TrimSpace(l), "File \"") || i > 4:
			return ""
		case l != "" && l[0] != ' ' && l[0] != '\t':
			return l
		}
	}
	return ""
}

func harmless(l string) bool {
	l = strings.ToLower(l)
	return strings.Contains(l, ": warning") || strings.Contains(l, ": note:") || strings.Contains(l, "://")
}

// tally is one way of saying how many tests ran.
type tally struct {
	line *regexp.Regexp // picks the lines that count
	sum  bool           // every such line counts, not the last one alone
	find map[string]func(*nexus.Counts) *int
	all  *regexp.Regexp // the number of all tests, where those that passed are not said
}

func passed(c *nexus.Counts) *int  { return &c.Passed }
func failed(c *nexus.Counts) *int  { return &c.Failed }
func skipped(c *nexus.Counts) *int { return &c.Skipped }

// tallies returns the ways that are known, the clearest first.
func tallies() []tally {
	re := regexp.MustCompile
	return []tally{
		{line: re(`^test result: `), sum: true, find: map[string]func(*nexus.Counts) *int{ // cargo
			`(\d+) passed`: passed, `(\d+) failed`: failed, `(\d+) ignored`: skipped,
		}},
		{line: re(`^=+ .* in [\d.]+s`), sum: true, find: map[string]func(*nexus.Counts) *int{ // pytest
			`(\d+) passed`: passed, `(\d+) failed`: failed, `(\d+) errors?`: failed, `(\d+) skipped`: skipped,
		}},
		{line: re(`^\s*Tests:? +.*\d+ (?:total|passed|failed|skipped|todo)|^\s*Tests +\d.*\(\d+\)$`), sum: true, find: map[string]func(*nexus.Counts) *int{ // jest, vitest
			`(\d+) passed`: passed, `(\d+) failed`: failed, `(\d+) skipped`: skipped, `(\d+) todo`: skipped,
		}},
		{line: re(`Tests run: \d+, Failures: \d+, Errors: \d+`), find: map[string]func(*nexus.Counts) *int{ // maven
			`Failures: (\d+)`: failed, `Errors: (\d+)`: failed, `Skipped: (\d+)`: skipped,
		}, all: re(`Tests run: (\d+)`)},
		{line: re(`^(?:Ran \d+ tests? in|OK\b|FAILED \()`), sum: true, find: map[string]func(*nexus.Counts) *int{ // unittest
			`failures=(\d+)`: failed, `errors=(\d+)`: failed, `skipped=(\d+)`: skipped,
		}, all: re(`^Ran (\d+) tests? in`)},
		{line: re(`^\d+ examples?, \d+ failures?`), find: map[string]func(*nexus.Counts) *int{ // rspec
			`(\d+) failures?`: failed, `(\d+) pending`: skipped,
		}, all: re(`^(\d+) examples?`)},
		{line: re(`^\s*(?:(?:#|\x{2139}) (?:pass|fail|skipped) \d+|\d+ (?:passing|failing|pending)\b)`), sum: true, find: map[string]func(*nexus.Counts) *int{ // node, TAP, mocha
			`pass (\d+)`: passed, `fail (\d+)`: failed, `skipped (\d+)`: skipped,
			`(\d+) passing`: passed, `(\d+) failing`: failed, `(\d+) pending`: skipped,
		}},
		{line: re(`(?:Passed|Failed)! +- Failed: +\d+, Passed: +\d+`), sum: true, find: map[string]func(*nexus.Counts) *int{ // dotnet
			`Passed: +(\d+)`: passed, `Failed: +(\d+)`: failed, `Skipped: +(\d+)`: skipped,
		}},
		{line: re(`\d+% tests passed, \d+ tests failed out of \d+`), find: map[string]func(*nexus.Counts) *int{ // ctest
			`(\d+) tests failed`: failed,
		}, all: re(`out of (\d+)`)},
	}
}

// count reads how many tests ran, and false where nothing says so.
func count(all []string) (nexus.Counts, bool) {
	for _, t := range tallies() {
		if c, ok := t.read(all); ok {
			return c, true
		}
	}
	return countGo(all)
}

func (t tally) read(all []string) (c nexus.Counts, ok bool) {
	total := 0
	for _, l := range all {
		if !t.line.MatchString(l) {
			continue
		}
		if !t.sum {
			c, total = nexus.Counts{}, 0
		}
		ok = true
		for pattern, field := range t.find {
			if m := regexp.MustCompile(pattern).FindStringSubmatch(l); m != nil {
				*field(&c) += number(m[1])
			}
		}
		if t.all != nil {
			if m := t.all.FindStringSubmatch(l); m != nil {
				total += number(m[1])
			}
		}
	}
	if t.all != nil {
		c.Passed = max(0, total-c.Failed-c.Skipped)
	}
	return c, ok
}

// countGo reads go test without -json. Without -v it tells packages only, and
// each that is ok ran at least one test.
func countGo(all []string) (c nexus.Counts, ok bool) {
	verbose := nexus.Counts{}
	for _, l := range all {
		t := strings.TrimSpace(l)
		switch {
		case strings.HasPrefix(t, "--- PASS: "):
			verbose.Passed++
		case strings.HasPrefix(t, "--- FAIL: "):
			verbose.Failed++
		case strings.HasPrefix(t, "--- SKIP: "):
			verbose.Skipped++
		case strings.HasPrefix(l, "ok  \t"):
			ok = true
			if !strings.Contains(l, "[no test") {
				c.Passed++
			}
		case strings.HasPrefix(l, "?   \t"), strings.HasPrefix(l, "\t") && strings.Contains(l, "coverage: "):
			ok = true
		case strings.HasPrefix(l, "FAIL\t"):
			ok = true
			c.Failed++
		}
	}
	verbose.Failed = max(c.Failed, verbose.Failed)
	if verbose.Passed > 0 {
		return verbose, true
	}
	c.Failed = verbose.Failed
	return c, ok
}
