package outputparser

import (
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

// tallyMarks matches lines in which a runner of any kind prints the number of tests.
const tallyMarks = `(?mi)^\W*(?:\w+\W{1,2})?\d+ (?:of \d+ )?(?:tests?|specs?|scenarios?|examples?|test cases?|success(?:es)?|passed|passing)\b|^\W*(?:\w+\] )?(?:tests?|tests run|test cases|total|passed)\W{1,12}\d+\b`

// testCounter reads the number of tests from lines of any runner. Its words are before or after
// their number.
type testCounter struct {
	behind, before *regexp.Regexp
	other          *regexp.Regexp // of lines that count something else
	part           *regexp.Regexp // of lines that count a part of all
	none, well     *regexp.Regexp // of lines that report no tests, and no failures
	tick, cross    *regexp.Regexp // of lines that mark a passed test, and a failure
}

func newTestCounter() testCounter {
	const (
		unit = `tests?|runs?|specs?|scenarios?|examples?|test cases?`
		kind = `pass(?:ed|es|ing)?|success(?:es)?|succeeded|fail(?:ed|ing|ures?|s)?|errors?|errored|broken|skip(?:ped|s)?|pending|todos?|ignored|disabled|undefined`
	)
	return testCounter{
		behind: regexp.MustCompile(`(?i)\b(\d+) (?:(?:` + unit + `) )?(` + kind + `)\b|\b(\d+) (` + unit + `|total)\b`),
		before: regexp.MustCompile(`(?i)\b(` + kind + `|` + unit + `|total)\b[ \]:=]{1,12}(\d+)\b`),
		other:  regexp.MustCompile(`(?i)^\W*(?:\d+ )?(?:test )?(?:features?|files?|suites?|steps?|assertions?|modules?|checks?|problems?|hooks?)\b|^g?make\b|^npm `),
		none:   regexp.MustCompile(`(?i)\b0 (?:` + unit + `)\b`),
		part:   regexp.MustCompile(`(?i)\b(\d+) of (\d+) (?:` + unit + `) (` + kind + `)\b`),
		tick:   regexp.MustCompile(`^\s*[\x{2713}\x{2714}\x{221a}] \S`),
		cross:  regexp.MustCompile(`^\s*(?:[^\w\s] )?[\x{2717}\x{2718}\x{2716}]|^\s*FAIL\b`),
		well:   regexp.MustCompile(`(?i)\b0 (?:fail|err)|^OK \(\d`),
	}
}

// countLine returns the counts in a line, the total that the line states, and whether it has any.
// Several words of one kind are added: "2 failed, 1 error" is 3 failed.
func (c testCounter) countLine(l string) (n nexus.TestCounts, total int, ok bool) {
	if len(l) > 300 || !strings.ContainsAny(l, "0123456789") || c.other.MatchString(l) {
		return n, 0, false
	}
	var said [][2]string
	if m := c.part.FindStringSubmatch(l); m != nil {
		said = append(said, [2]string{m[3], m[1]}, [2]string{"total", m[2]})
	} else if m := c.before.FindStringSubmatch(l); m != nil && strings.Contains(l, "] ") && strings.HasPrefix(l, "[ ") { // [  PASSED  ] 1 test.
		said = append(said, [2]string{m[1], m[2]})
	} else if all := c.behind.FindAllStringSubmatch(l, -1); all != nil {
		for _, m := range all {
			said = append(said, [2]string{m[2] + m[4], m[1] + m[3]})
		}
	} else {
		for _, m := range c.before.FindAllStringSubmatch(l, -1) {
			said = append(said, [2]string{m[1], m[2]})
		}
	}
	for _, s := range said {
		number := parserbase.ParseNumber(s[1])
		switch word := strings.ToLower(s[0]); {
		case strings.HasPrefix(word, "pass"), strings.HasPrefix(word, "succe"):
			n.Passed += number
		case strings.HasPrefix(word, "fail"), strings.HasPrefix(word, "err"), word == "broken":
			n.Failed += number
		case strings.HasPrefix(word, "test"), strings.HasPrefix(word, "run"), strings.HasPrefix(word, "spec"), strings.HasPrefix(word, "scen"), strings.HasPrefix(word, "exam"), word == "total":
			total = max(total, number)
		default:
			n.Skipped += number
		}
	}
	return n, total, len(said) > 0
}

// testCountSummary is a runner's summary of all its tests.
type testCountSummary struct {
	nexus.TestCounts
	total         int
	counted, none bool // it contains a number; it reports that there were none
}

// countAll adds the counts in adjacent lines; the last group counts.
func (c testCounter) countAll(all []string, exit int) (n testCountSummary) {
	gap := 0
	for _, l := range all {
		m, total, ok := c.countLine(l)
		switch {
		case !ok:
			gap++
			continue
		case gap > 3:
			n = testCountSummary{none: n.none}
		}
		gap = 0
		n.Passed, n.Failed, n.Skipped = max(n.Passed, m.Passed), max(n.Failed, m.Failed), max(n.Skipped, m.Skipped)
		n.total = max(n.total, total)
		n.counted = n.counted || m != (nexus.TestCounts{}) || total > 0
		n.none = n.none || total == 0 && c.none.MatchString(l)
		if exit == 0 && c.well.MatchString(l) && total+m.Passed > 0 { // the last line counts; a test may have printed the others
			n.TestCounts, n.total = m, total
		}
	}
	return n
}

// completeSum derives missing counts from the others.
func (c testCounter) completeSum(n *testCountSummary, all []string, exit int) {
	count := func(re *regexp.Regexp) (found int) {
		for _, l := range all {
			if re.MatchString(l) {
				found++
			}
		}
		return found
	}
	switch {
	case n.Passed == 0 && n.total == 0 && n.counted:
		n.Passed = count(c.tick)
	case n.Passed == 0:
		n.Passed = max(0, n.total-n.Failed-n.Skipped)
	case n.Failed == 0 && exit > 0:
		n.Failed = max(0, n.total-n.Passed-n.Skipped)
		if n.Failed == 0 && count(c.cross) > 0 {
			n.Failed = max(0, n.total-n.Passed) // it does not count skipped tests
		}
	}
}

// TallyOutput reads a runner of which only the final summary is known, and positions in the
// common forms.
func TallyOutput(in ToolOutput) ParsedToolOutput {
	all := in.AllLines()
	c := newTestCounter()
	n := c.countAll(all, in.Exit)
	c.completeSum(&n, all, in.Exit)
	r := parserbase.ParsedTestRun{Counts: n.TestCounts, Counted: n.counted, Empty: n.counted && n.TestCounts == nexus.TestCounts{} && n.total == 0}
	if n.Failed == 0 {
		return in.TestRunReport(r)
	}
	code := parserbase.CodeTest
	if n.none && n.Passed == 0 { // the failures are files
		code, r.Counts.Failed = parserbase.CodeCompile, 0
	}
	if r.Findings = stackFindings(in, all); len(r.Findings) == 0 {
		r.Findings = guessFindings(in, all, true)
	}
	for i := range r.Findings {
		r.Findings[i].Code = code
	}
	return in.TestRunReport(r)
}
