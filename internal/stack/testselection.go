package stack

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// TestSelection is the set of tests that a command runs, for a runner that reports the result of
// each test. The zero value is for any other command.
type TestSelection struct {
	Runner string   // such as "go test"
	How    []string // its options that change the behaviour of tests, sorted
	Of     []string // packages, files or tests in its arguments; empty: all below the directory
	Tests  string   // pattern of names, as the runner reads it; empty: all
}

// IncludesAllTests reports whether it is all tests below the directory.
func (s TestSelection) IncludesAllTests() bool {
	return s.Runner != "" && len(s.Of) == 0 && s.Tests == ""
}

// HasSameTestBehaviour reports whether tests behave the same in both.
func (s TestSelection) HasSameTestBehaviour(o TestSelection) bool {
	return s.Runner != "" && s.Runner == o.Runner && slices.Equal(s.How, o.How)
}

// ParseTestSelection returns the tests that a command runs, and false if they are unknown: for another
// program, with an option that may mean anything, and with a runner that stops at the first
// failure and does not report the others.
func ParseTestSelection(words []string) (TestSelection, bool) {
	switch {
	case len(words) > 1 && words[0] == "go" && words[1] == "test":
		return goTestSelection(words[2:])
	case len(words) > 2 && strings.HasPrefix(words[0], "python") && words[1] == "-m" && words[2] == "unittest":
		return unittestSelection(words[3:])
	}
	if i := slices.IndexFunc(words, func(w string) bool { return w == "pytest" || w == "py.test" }); i >= 0 {
		return pytestSelection(words[:i], words[i+1:])
	}
	return TestSelection{}, false
}

// goTestSelection reads the arguments of go test. See go help testflag.
func goTestSelection(args []string) (TestSelection, bool) {
	s := TestSelection{Runner: "go test"}
	for i := 0; i < len(args); i++ {
		option, value, joined := strings.Cut(args[i], "=")
		option = "-" + strings.TrimLeft(option, "-")
		switch {
		case !strings.HasPrefix(args[i], "-"):
			s.Of = append(s.Of, path.Clean(args[i]))
			continue
		case slices.Contains([]string{"-v", "-json"}, option):
			continue
		case !slices.Contains([]string{"-run", "-count", "-timeout", "-p", "-parallel"}, option):
			if !joined && !slices.Contains([]string{"-race", "-short", "-failfast"}, option) {
				return TestSelection{}, false
			}
			s.How = append(s.How, args[i])
			continue
		case !joined:
			if i++; i == len(args) {
				return TestSelection{}, false
			}
			value = args[i]
		}
		switch {
		case option == "-run":
			s.Tests = value
		case option == "-count" && value != "1":
			return TestSelection{}, false
		}
	}
	if slices.Equal(s.Of, []string{"..."}) {
		s.Of = nil
	} else if len(s.Of) == 0 {
		s.Of = []string{"."}
	}
	slices.Sort(s.How)
	return s, true
}

// pytestSelection reads the words before and after the name of pytest.
func pytestSelection(before, args []string) (TestSelection, bool) {
	if n := len(before); n > 1 && before[n-1] == "-m" && strings.HasPrefix(before[n-2], "python") {
		before = before[:n-2]
	}
	s := TestSelection{Runner: strings.TrimSpace(strings.Join(before, " ") + " pytest")}
	quiet := regexp.MustCompile(`^(-[vqs]+|-r\w+|--(tb|color|durations)=.*|--no-header|--no-summary|--verbose|--quiet)$`)
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case !strings.HasPrefix(a, "-"):
			s.Of = append(s.Of, path.Clean(a))
		case a == "-p" && i+1 < len(args) && args[i+1] == "no:cacheprovider":
			i++
		case !quiet.MatchString(a):
			return TestSelection{}, false
		}
	}
	if slices.Equal(s.Of, []string{"."}) {
		s.Of = nil
	}
	return s, true
}

// unittestSelection reads the arguments of python -m unittest.
func unittestSelection(args []string) (TestSelection, bool) {
	s := TestSelection{Runner: "unittest"}
	for i, a := range args {
		switch {
		case slices.Contains([]string{"-v", "-q", "-b", "--verbose", "--quiet", "--buffer"}, a), a == "discover" && i == 0:
		case strings.HasPrefix(a, "-"):
			return TestSelection{}, false
		default:
			s.Of = append(s.Of, strings.ReplaceAll(strings.TrimSuffix(path.Clean(a), ".py"), "/", "."))
		}
	}
	return s, len(s.Of) == 0 || args[0] != "discover"
}

// PickTests returns the tests among names that the selection runs, as the runner names them, and
// false if the names do not show it. An empty result means that no test runs only if names
// contains all tests.
func (s TestSelection) PickTests(names []string) ([]string, bool) {
	switch {
	case s.IncludesAllTests():
		return names, true
	case s.Runner == "go test":
		return s.pickGoTests(names)
	}
	var all []string
	for _, of := range s.Of {
		found := false
		for _, name := range names {
			rest, ok := strings.CutPrefix(name, of)
			if ok && (rest == "" || strings.HasPrefix(rest, "::") || strings.ContainsRune("/.[", rune(rest[0]))) {
				found, all = true, append(all, name)
			}
		}
		if !found {
			return nil, len(s.Of) == 1
		}
	}
	return all, true
}

// pickGoTests matches names as go test does: each part of a name by the pattern at its place. The
// names do not show the directory of a package.
func (s TestSelection) pickGoTests(names []string) ([]string, bool) {
	if len(s.Of) > 0 || strings.ContainsAny(s.Tests, "[\\") && strings.Contains(s.Tests, "/") {
		return nil, false
	}
	var levels []*regexp.Regexp
	for part := range strings.SplitSeq(s.Tests, "/") {
		re, err := regexp.Compile(part)
		if err != nil {
			return nil, false
		}
		levels = append(levels, re)
	}
	test := regexp.MustCompile(`^(?:.*?\.)?((?:Test|Example|Fuzz).*)$`) // after the path of its package
	var all []string
	for _, name := range names {
		m := test.FindStringSubmatch(name)
		if m == nil {
			return nil, false
		}
		parts := strings.Split(m[1], "/")
		ok := len(parts) >= len(levels)
		for i := 0; ok && i < len(levels); i++ {
			ok = levels[i].MatchString(parts[i])
		}
		if ok {
			all = append(all, name)
		}
	}
	return all, true
}
