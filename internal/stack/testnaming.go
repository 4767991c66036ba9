package stack

import "regexp"

// TestNameConverter converts the name of a test, as findings contain it, to the argument that makes a
// runner run only that test: a word, and a file if the runner needs one. It returns false if
// the name is ambiguous.
type TestNameConverter struct {
	Name string // as in [SingleTestCommand.Name]
	Word func(test string) (word, file string, ok bool)
}

// TestArgument converts the name of a test to the argument for its runner.
func TestArgument(how, test string) (word, file string, ok bool) {
	for _, s := range AllStacks() {
		for _, n := range rowsOfPart(s.Namings) {
			if n.Name == how {
				return n.Word(test)
			}
		}
	}
	return "", "", false
}

// RunningTestFinder finds the test, or the tests of a file, that was running when a runner was
// killed, in the lines that it printed. It returns "" if they do not show it.
type RunningTestFinder struct {
	Format string // of the output
	Test   func(lines []string) (test, file string)
}

// RunningTest returns the test that was running according to an output of a format.
func RunningTest(format string, lines []string) (test, file string) {
	for _, s := range AllStacks() {
		for _, r := range rowsOfPart(s.Running) {
			if r.Format == format {
				return r.Test(lines)
			}
		}
	}
	return "", ""
}

// verbatimNaming is a naming whose runner accepts the name unchanged.
func verbatimNaming(name string) TestNameConverter {
	return TestNameConverter{name, func(test string) (string, string, bool) { return test, "", true }}
}

// regexpNaming is a naming whose runner accepts the name as a pattern between two marks.
func regexpNaming(name, begin, end string) TestNameConverter {
	return TestNameConverter{name, func(test string) (string, string, bool) { return begin + regexp.QuoteMeta(test) + end, "", true }}
}
