package stack

import (
	"path"
	"slices"
	"strings"
)

// LanguageTestSyntax describes how tests of a language are written. The patterns are regexps for lines of
// its files.
type LanguageTestSyntax struct {
	Ends     []string // of the names of its files
	Inside   bool     // tests are in the files of the code
	Within   []string // endings of names of files that may contain tests besides other code
	Only     bool     // a file called test, tests or spec is a test
	Names    []string // patterns of names of files that serve tests, besides the common ones
	Dirs     []string // names of directories whose files of the language all serve tests, likewise
	Declares string   // a test; the last group that matched is its name
	Skips    string   // a skipped test
	Focuses  string   // a test that runs alone; empty if there is none
	Asserts  string   // an assertion
	Weak     string   // an assertion that holds for almost anything
	Swallows string   // code that hides a failure
	Quiets   string   // a comment that silences a checker
	Mocks    string   // code that replaces a module by a mock; the last group that matched is its name
	Reports  string   // a runner hook that changes which tests run, and their report
	Inverts  string   // a mark of a test that is expected to fail
	Exits    bool     // the exit code of a file decides, whatever it contains
}

// CheckConfigPatterns describes how checks are configured in some files, as patterns of lines.
type CheckConfigPatterns struct {
	Files   []string // names, patterns of them, or directories with a slash at the end; in lower case
	Runs    string   // settings that choose what runs
	Narrows string   // settings that make less run
	Loads   string   // code that is loaded before the tests
	Runner  bool     // the file is the program that runs the tests, or names it
}

// ConfiguresOnlyChecks reports whether the files configure nothing but checks, so that they may contain lines
// of any checker's configuration.
func (c CheckConfigPatterns) ConfiguresOnlyChecks() bool {
	return c.Runs+c.Narrows+c.Loads == "" && !c.Runner
}

// CheckConfigOf returns how checks are configured in a file, and false for a file that configures
// none.
func CheckConfigOf(file string) (CheckConfigPatterns, bool) {
	for _, s := range AllStacks() {
		for _, c := range s.Configs {
			if slices.ContainsFunc(c.Files, func(p string) bool { return matchesConfigPattern(p, file) }) {
				return c, true
			}
		}
	}
	return CheckConfigPatterns{}, false
}

// HasAssertions reports whether tests in a file check by assertions and not by the exit code; false
// for an unknown language.
func HasAssertions(file string) bool {
	ending := path.Ext(file)
	return slices.ContainsFunc(AllStacks(), func(s Stack) bool { return !s.Tests.Exits && slices.Contains(s.Tests.Ends, ending) })
}

// HoldsInlineTests reports whether a file is a code file that contains its tests.
func HoldsInlineTests(file string) bool {
	ending := path.Ext(file)
	return slices.ContainsFunc(AllStacks(), func(s Stack) bool { return s.Tests.Inside && slices.Contains(s.Tests.Ends, ending) })
}

// MayHoldTests reports whether a file may contain tests besides other code.
func MayHoldTests(file string) bool {
	ending := path.Ext(file)
	return HoldsInlineTests(file) || slices.ContainsFunc(AllStacks(), func(s Stack) bool { return slices.Contains(s.Tests.Within, ending) })
}

// matchesConfigPattern reports whether a pattern of [CheckConfigPatterns.SourceFiles] matches a file.
func matchesConfigPattern(pattern, file string) bool {
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
		isSoleTestFile(stem, path.Ext(base)) ||
		strings.HasSuffix(stem, ".test") || strings.HasSuffix(stem, ".spec") ||
		strings.Contains("/"+file, "/tests/") || strings.Contains("/"+file, "/__tests__/")
}

// isSoleTestFile reports whether a file contains all the tests of a project, like test.js of a small
// package, or tests.py of an application.
func isSoleTestFile(stem, ending string) bool {
	return (stem == "test" || stem == "tests" || stem == "spec") && slices.ContainsFunc(AllStacks(), func(s Stack) bool {
		return s.Tests.Only && slices.Contains(s.Tests.Ends, ending)
	})
}

// testHelperNames holds the names of files that serve tests, of all stacks.
type testHelperNames struct {
	names    map[string]bool
	endings  []string        // of names, from patterns that are an asterisk and an ending
	patterns []string        // all others
	dirs     map[string]bool // of directories with the endings of the files in them
}

func (h *testHelperNames) matchesFile(base string) bool {
	return h.names[base] || slices.ContainsFunc(h.endings, func(end string) bool { return strings.HasSuffix(base, end) }) || matchesAny(h.patterns, []string{base})
}

// testHelpers is made once: each file of a tree is looked up in it.
var testHelpers = collectTestHelperNames()

func collectTestHelperNames() *testHelperNames {
	h := &testHelperNames{names: map[string]bool{}, dirs: map[string]bool{}}
	for _, s := range AllStacks() {
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

// ServesTests reports whether a file is a test or serves only tests: their data, their helpers.
func ServesTests(file string) bool {
	if IsTest(file) {
		return true
	}
	if testHelpers.matchesFile(path.Base(file)) {
		return true
	}
	for dir := range strings.SplitSeq(path.Dir(file), "/") {
		switch dir {
		case "test", "testdata", "__snapshots__", "__mocks__", "__fixtures__", "spec", "e2e":
			return true
		}
		if testHelpers.dirs[dir+"/"+path.Ext(file)] {
			return true
		}
	}
	return false
}
