package stack

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// Selection is which tests a command runs with a runner that says how each of its tests
// ended. The zero value is that of no such command.
type Selection struct {
	Runner string   // such as "go test"
	How    []string // its options that change what a test does, sorted
	Of     []string // packages, files or tests that it is given; empty: all below the directory
	Tests  string   // pattern of names, as the runner reads it; empty: all
}

// Whole reports whether it is all tests below the directory.
func (s Selection) Whole() bool { return s.Runner != "" && len(s.Of) == 0 && s.Tests == "" }

// Alike reports whether tests do the same in both.
func (s Selection) Alike(o Selection) bool {
	return s.Runner != "" && s.Runner == o.Runner && slices.Equal(s.How, o.How)
}

// SelectionOf returns which tests a command runs, and false where that cannot be told:
// of another program, where an option may mean anything, and of a runner that is to stop at
// the first failure, which does not say how the others end.
func SelectionOf(words []string) (Selection, bool) {
	switch {
	case len(words) > 1 && words[0] == "go" && words[1] == "test":
		return selectionOfGo(words[2:])
	case len(words) > 2 && strings.HasPrefix(words[0], "python") && words[1] == "-m" && words[2] == "unittest":
		return selectionOfUnittest(words[3:])
	}
	if i := slices.IndexFunc(words, func(w string) bool { return w == "pytest" || w == "py.test" }); i >= 0 {
		return selectionOfPytest(words[:i], words[i+1:])
	}
	return Selection{}, false
}

// selectionOfGo reads what follows go test. See go help testflag.
func selectionOfGo(args []string) (Selection, bool) {
	s := Selection{Runner: "go test"}
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
				return Selection{}, false
			}
			s.How = append(s.How, args[i])
			continue
		case !joined:
			if i++; i == len(args) {
				return Selection{}, false
			}
			value = args[i]
		}
		switch {
		case option == "-run":
			s.Tests = value
		case option == "-count" && value != "1":
			return Selection{}, false
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

// selectionOfPytest reads what stands before and after the name of pytest.
func selectionOfPytest(before, args []string) (Selection, bool) {
	if n := len(before); n > 1 && before[n-1] == "-m" && strings.HasPrefix(before[n-2], "python") {
		before = before[:n-2]
	}
	s := Selection{Runner: strings.TrimSpace(strings.Join(before, " ") + " pytest")}
	quiet := regexp.MustCompile(`^(-[vqs]+|-r\w+|--(tb|color|durations)=.*|--no-header|--no-summary|--verbose|--quiet)$`)
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case !strings.HasPrefix(a, "-"):
			s.Of = append(s.Of, path.Clean(a))
		case a == "-p" && i+1 < len(args) && args[i+1] == "no:cacheprovider":
			i++
		case !quiet.MatchString(a):
			return Selection{}, false
		}
	}
	if slices.Equal(s.Of, []string{"."}) {
		s.Of = nil
	}
	return s, true
}

// selectionOfUnittest reads what follows python -m unittest.
func selectionOfUnittest(args []string) (Selection, bool) {
	s := Selection{Runner: "unittest"}
	for i, a := range args {
		switch {
		case slices.Contains([]string{"-v", "-q", "-b", "--verbose", "--quiet", "--buffer"}, a), a == "discover" && i == 0:
		case strings.HasPrefix(a, "-"):
			return Selection{}, false
		default:
			s.Of = append(s.Of, strings.ReplaceAll(strings.TrimSuffix(path.Clean(a), ".py"), "/", "."))
		}
	}
	return s, len(s.Of) == 0 || args[0] != "discover"
}

// Pick returns those of the tests that it runs, as the runner names them, and false where
// names do not tell which these are. None is none only where the names are those of all tests.
func (s Selection) Pick(names []string) ([]string, bool) {
	switch {
	case s.Whole():
		return names, true
	case s.Runner == "go test":
		return s.pickGo(names)
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

// pickGo matches names as go test does: each part of a name by the pattern at its place. The
// names do not tell in which directory a package is.
func (s Selection) pickGo(names []string) ([]string, bool) {
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
