package stack

import (
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
)

// Tests are how tests of a language are written. The patterns are those of
// regexp, for lines of its files.
type Tests struct {
	Ends     []string // of the names of its files
	Inside   bool     // they stand in the files of the code
	Within   []string // endings of names of files in which some may stand besides other things
	Only     bool     // a file that is called test, tests or spec is a test
	Names    []string // patterns of names of files that serve tests, besides those that languages share
	Dirs     []string // names of directories in which all files of the language do, likewise
	Declares string   // a test; the last group that matched is its name
	Skips    string   // one that does not run
	Focuses  string   // one that runs alone; empty where there is none
	Asserts  string   // what checks something
	Weak     string   // an assertion that holds for almost anything
	Swallows string   // what turns a failure into none
	Quiets   string   // what tells a checker to look away
	Mocks    string   // what replaces a module by a stand-in, whose name is the last group that matched
	Reports  string   // a hook of a runner that decides what runs, and what is said of it
	Inverts  string   // a mark of a test that is to fail
	Exits    bool     // a file fails by how it exits, whatever stands in it
}

// Config is how checks are configured in some files, as patterns of lines.
type Config struct {
	Files   []string // names, patterns of them, or directories with a slash behind them; in lower case
	Runs    string   // what is run
	Narrows string   // that less is
	Loads   string   // what comes before the tests
	Runner  bool     // the file is the program that runs the tests, or says which one does
}

// Plain reports whether the files are about nothing but checks, so that lines of
// any checker's configuration may be in them.
func (c Config) Plain() bool { return c.Runs+c.Narrows+c.Loads == "" && !c.Runner }

// ConfigOf returns how checks are configured in a file, and false for one that
// configures none.
func ConfigOf(file string) (Config, bool) {
	for _, s := range All() {
		for _, c := range s.Configs {
			if slices.ContainsFunc(c.Files, func(p string) bool { return at(p, file) }) {
				return c, true
			}
		}
	}
	return Config{}, false
}

// Checks reports whether tests in a file check by what stands in it, and not by how
// it exits; false for a language that is not known.
func Checks(file string) bool {
	ending := path.Ext(file)
	return slices.ContainsFunc(All(), func(s Stack) bool { return !s.Tests.Exits && slices.Contains(s.Tests.Ends, ending) })
}

// TestsInside reports whether a file is one of code in which its tests stand.
func TestsInside(file string) bool {
	ending := path.Ext(file)
	return slices.ContainsFunc(All(), func(s Stack) bool { return s.Tests.Inside && slices.Contains(s.Tests.Ends, ending) })
}

// MayHoldTests reports whether tests may stand in a file besides other things.
func MayHoldTests(file string) bool {
	ending := path.Ext(file)
	return TestsInside(file) || slices.ContainsFunc(All(), func(s Stack) bool { return slices.Contains(s.Tests.Within, ending) })
}

// at reports whether a file is what a pattern of [Config.Files] names.
func at(pattern, file string) bool {
	if strings.HasSuffix(pattern, "/") {
		return strings.Contains("/"+path.Dir(file)+"/", "/"+pattern)
	}
	if strings.Contains(pattern, "/") {
		return strings.HasSuffix("/"+file, "/"+pattern)
	}
	ok, _ := path.Match(pattern, strings.ToLower(path.Base(file)))
	return ok
}

// IsTest reports whether a file is a test.
func IsTest(file string) bool {
	base := path.Base(file)
	stem := strings.TrimSuffix(base, path.Ext(base))
	return strings.HasSuffix(stem, "_test") || strings.HasPrefix(base, "test_") ||
		onlyTest(stem, path.Ext(base)) ||
		strings.HasSuffix(stem, ".test") || strings.HasSuffix(stem, ".spec") ||
		strings.Contains("/"+file, "/tests/") || strings.Contains("/"+file, "/__tests__/")
}

// onlyTest reports whether a file is all the tests that there are, like test.js of
// a small package, or tests.py of an application.
func onlyTest(stem, ending string) bool {
	return (stem == "test" || stem == "tests" || stem == "spec") && slices.ContainsFunc(All(), func(s Stack) bool {
		return s.Tests.Only && slices.Contains(s.Tests.Ends, ending)
	})
}

// helpers are the names of files that serve tests, of all stacks.
type helpers struct {
	names    map[string]bool
	endings  []string        // of names, from patterns that are an asterisk and an ending
	patterns []string        // all others
	dirs     map[string]bool // of directories with the endings of the files in them
}

func (h *helpers) is(base string) bool {
	return h.names[base] || slices.ContainsFunc(h.endings, func(end string) bool { return strings.HasSuffix(base, end) }) || marked(h.patterns, []string{base})
}

// helping is made once: it is asked for each file of a tree.
var helping = pattern.Once(collectHelpers)

func collectHelpers() *helpers {
	h := &helpers{names: map[string]bool{}, dirs: map[string]bool{}}
	for _, s := range All() {
		for _, dir := range s.Tests.Dirs {
			for _, ending := range s.Tests.Ends {
				h.dirs[dir+"/"+ending] = true
			}
		}
		for _, p := range s.Tests.Names {
			end, open := strings.CutPrefix(p, "*")
			switch {
			case strings.ContainsAny(end, `*?[\\`):
				h.patterns = append(h.patterns, p)
			case open:
				h.endings = append(h.endings, end)
			default:
				h.names[p] = true
			}
		}
	}
	return h
}

// ServesTests reports whether a file is a test or serves tests alone: their data,
// their helpers.
func ServesTests(file string) bool {
	if IsTest(file) {
		return true
	}
	if helping().is(path.Base(file)) {
		return true
	}
	for dir := range strings.SplitSeq(path.Dir(file), "/") {
		switch dir {
		case "test", "testdata", "__snapshots__", "__mocks__", "__fixtures__", "spec", "e2e":
			return true
		}
		if helping().dirs[dir+"/"+path.Ext(file)] {
			return true
		}
	}
	return false
}
