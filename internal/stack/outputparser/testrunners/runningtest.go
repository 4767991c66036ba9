package testrunners

import (
	"regexp"
	"slices"
)

// UnfinishedTestReader returns a function that finds the last test that began and did not end, by patterns
// of the lines that report both.
func UnfinishedTestReader(begins, ends string) func(lines []string) (test, file string) {
	return func(lines []string) (test, file string) { return unfinishedTest(lines, begins, ends), "" }
}

// unfinishedTest returns the last test that began and did not end.
func unfinishedTest(all []string, begins, ends string) string {
	begin, end := regexp.MustCompile(begins), regexp.MustCompile(ends)
	open := ""
	for _, l := range all {
		if m := begin.FindStringSubmatch(l); m != nil {
			open = m[1]
		} else if end.MatchString(l) {
			open = ""
		}
	}
	return open
}

// RunningCargoTest finds the running test of cargo test, which names slow tests.
func RunningCargoTest(lines []string) (test, file string) {
	long := regexp.MustCompile(`^test (\S+) has been running for over \d+ seconds$`)
	for _, l := range slices.Backward(lines) {
		if m := long.FindStringSubmatch(l); m != nil {
			return m[1], ""
		}
	}
	return unfinishedTest(lines, `^test (\S+) \.\.\. ?$`, `^(?:ok|FAILED)$|\.\.\. (?:ok|FAILED|ignored)`), ""
}

// RunningPytestTest finds the running test with -v, and otherwise the file whose tests run.
func RunningPytestTest(all []string) (test, file string) {
	named := regexp.MustCompile(`^(\S+\.py::\S.*?)(?: (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b.*)? *$`)
	dots := regexp.MustCompile(`^(\S+\.py) [.FEsxX]*( +\[ *\d+%\])?$`)
	for _, l := range slices.Backward(all) {
		if m := named.FindStringSubmatch(l); m != nil {
			if m[2] != "" {
				return "", ""
			}
			return m[1], ""
		}
		if m := dots.FindStringSubmatch(l); m != nil {
			if m[2] != "" {
				return "", ""
			}
			return "", m[1]
		}
	}
	return "", ""
}
