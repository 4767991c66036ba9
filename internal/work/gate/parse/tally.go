package parse

import (
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/parse/raw"
)

// tallyMarks are lines in which a runner of any kind says how many tests there
// were.
const tallyMarks = `(?mi)^\W*(?:\w+\W{1,2})?\d+ (?:of \d+ )?(?:tests?|specs?|scenarios?|examples?|test cases?|success(?:es)?|passed|passing)\b|^\W*(?:\w+\] )?(?:tests?|tests run|test cases|total|passed)\W{1,12}\d+\b`

// counter reads how many tests there were from lines of any runner. Its words
// stand before or behind their number.
type counter struct {
	behind, before *regexp.Regexp
	other          *regexp.Regexp // of lines that count something else
	part           *regexp.Regexp // of lines that count a part of all
	none, well     *regexp.Regexp // of lines that say that there was no test, and no failure
	tick, cross    *regexp.Regexp // of lines that mark a test that passed, and a failure
}

func newCounter() counter {
	const (
		unit = `tests?|runs?|specs?|scenarios?|examples?|test cases?`
		kind = `pass(?:ed|es|ing)?|success(?:es)?|succeeded|fail(?:ed|ing|ures?|s)?|errors?|errored|broken|skip(?:ped|s)?|pending|todos?|ignored|disabled|undefined`
	)
	return counter{
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

// line counts what a line says; of the words for one kind it takes the sum.
func (c counter) line(l string) (n nexus.Counts, total int, ok bool) {
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
		number := raw.Number(s[1])
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

// readTally reads a runner of which only the sum at the end is understood, and
// places as most tools name them.
func readTally(in Input) Report {
	all := in.Text()
	c := newCounter()
	var n nexus.Counts
	total, gap, counted, none := 0, 0, false, false
	for _, l := range all {
		m, sum, ok := c.line(l)
		switch {
		case !ok:
			gap++
			continue
		case gap > 3:
			n, total, counted = nexus.Counts{}, 0, false
		}
		gap = 0
		n = nexus.Counts{Passed: max(n.Passed, m.Passed), Failed: max(n.Failed, m.Failed), Skipped: max(n.Skipped, m.Skipped)}
		total = max(total, sum)
		counted = counted || m != (nexus.Counts{}) || sum > 0
		none = none || sum == 0 && c.none.MatchString(l)
		if in.Exit == 0 && c.well.MatchString(l) && sum+m.Passed > 0 { // what it says last holds; a test may have said the rest
			n, total = m, sum
		}
	}
	switch {
	case n.Passed == 0:
		n.Passed = max(0, total-n.Failed-n.Skipped)
	case n.Failed == 0 && in.Exit > 0:
		n.Failed = max(0, total-n.Passed-n.Skipped)
		if n.Failed == 0 && slices.ContainsFunc(all, c.cross.MatchString) {
			n.Failed = max(0, total-n.Passed) // it does not count those that it skips
		}
	}
	if n.Passed == 0 && total == 0 && counted {
		for _, l := range all {
			if c.tick.MatchString(l) {
				n.Passed++
			}
		}
	}
	r := raw.Run{Counts: n, Counted: counted, Empty: counted && n == nexus.Counts{} && total == 0}
	if n.Failed > 0 {
		if r.Findings = stacks(in, all); len(r.Findings) == 0 {
			r.Findings = guess(in, all, true)
		}
		if none && n.Passed == 0 {
			r.Counts.Failed = 0 // what failed are files
		}
		for i := range r.Findings {
			r.Findings[i].Code = raw.CodeTest
			if none && n.Passed == 0 {
				r.Findings[i].Code = raw.CodeCompile
			}
		}
	}
	return in.Suite(r)
}
