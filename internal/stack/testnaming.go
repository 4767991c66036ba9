package stack

import "regexp"

// Naming turns the name of a test, as findings call it, into what a runner is
// given to run that test alone: a word, and a file where it wants one. It is not
// ok where the name could mean something else.
type Naming struct {
	Name string // as in [SingleTest.Name]
	Word func(test string) (word, file string, ok bool)
}

// TestWord turns the name of a test into what its runner is given.
func TestWord(how, test string) (word, file string, ok bool) {
	for _, s := range All() {
		for _, n := range rows(s.Namings) {
			if n.Name == how {
				return n.Word(test)
			}
		}
	}
	return "", "", false
}

// RunningTestFinder tells which test, or the tests of which file, was under way when a
// runner was ended, by the lines that it printed; empty where they do not tell.
type RunningTestFinder struct {
	Format string // of the output
	Test   func(lines []string) (test, file string)
}

// RunningTest returns what was under way in an output of a format.
func RunningTest(format string, lines []string) (test, file string) {
	for _, s := range All() {
		for _, r := range rows(s.Running) {
			if r.Format == format {
				return r.Test(lines)
			}
		}
	}
	return "", ""
}

// asIs is a name that its runner takes as it is.
func asIs(name string) Naming {
	return Naming{name, func(test string) (string, string, bool) { return test, "", true }}
}

// asRegexp is a name that its runner takes as a pattern between two marks.
func asRegexp(name, begin, end string) Naming {
	return Naming{name, func(test string) (string, string, bool) { return begin + regexp.QuoteMeta(test) + end, "", true }}
}
