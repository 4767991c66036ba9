package outputparser

import (
	"fmt"
	"regexp"
	"strings"
)

// Patterns of lines about passed tests: points of TAP, and the single lines of other runners.
var (
	tapBegins = regexp.MustCompile(`^(\s*)# Subtest: `)
	tapPoint  = regexp.MustCompile(`^(\s*)(not )?ok \d+\b`)
	passed    = regexp.MustCompile(`^\s*(?:[\x{2713}\x{2714}\x{221a}] |--- PASS: )|^=== (?:RUN|PAUSE|CONT|NAME)\s|^ok\s+\S+\s+(?:\(cached\)|[\d.]+s)|^\?\s+\S+\s+\[no test files\]|^test \S.* \.\.\. ok$|^\S+ PASSED(?:\s+\[ *\d+%\])?$`)
)

// WithoutPassingTests returns the output of a tool without its lines about passed tests, and a last line
// with their number: they are no help in finding a failure.
func WithoutPassingTests(output string) string {
	var kept []string
	left := 0
	var begun []struct{ indent, at int } // subtests of TAP that have not ended
	skip := -1                           // indent of an explanation of a point that passed
	drop := func(from int) {
		left += len(kept) - from + 1
		kept = kept[:from]
	}
	for line := range strings.Lines(output) {
		line = strings.TrimRight(line, "\r\n")
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if skip >= 0 && indent > skip && !tapBegins.MatchString(line) && !tapPoint.MatchString(line) {
			left++
			continue
		}
		skip = -1
		switch m := tapPoint.FindStringSubmatch(line); {
		case tapBegins.MatchString(line):
			begun = append(begun, struct{ indent, at int }{indent, len(kept)})
			kept = append(kept, line)
		case m != nil:
			at := len(kept)
			for n := len(begun); n > 0 && begun[n-1].indent >= indent; n-- {
				if begun[n-1].indent == indent {
					at = begun[n-1].at
				}
				begun = begun[:n-1]
			}
			if m[2] == "" {
				drop(at)
				skip = indent
			} else {
				kept = append(kept, line)
			}
		case passed.MatchString(line):
			left++
		default:
			kept = append(kept, line)
		}
	}
	if left == 0 {
		return output
	}
	return strings.TrimRight(strings.Join(kept, "\n"), "\n") + fmt.Sprintf("\n[left out: %d lines about tests that passed]\n", left)
}
