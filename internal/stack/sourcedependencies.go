package stack

import (
	"io/fs"
	"path"
	"strings"
)

// SourceDependencyRules describes how the files of a language depend on each other, to find the tests that a
// change affects.
type SourceDependencyRules struct {
	Name string                 // as in [PartialTestCommand.By]
	Mine func(file string) bool // it is a source file
	Test func(file string) bool // the runner runs it as a test; nil where tests are found by packages
	// Uses returns a function that lists the other source files of a tree that a file may need,
	// and returns false for a file that may need any. Have contains all of them.
	Uses func(tree fs.FS, have map[string]bool) func(file string) (files []string, sure bool)
	// Units returns the packages of a tree. Nil: tests are found file by file.
	Units func(tree fs.FS, files []string) []TestPackage
	// Chooses explains why the build chooses its tests in a way that naming some would
	// override, "" if it does not. Nil: it never does.
	Chooses func(tree fs.FS, files []string) string
	// Words returns the replacement of a word of [PartialTestCommand.Args], given the tests to run
	// relative to a directory, and false for a word that is not replaced. Nil: only the words
	// that every language has are replaced.
	Words func(tree fs.FS, dir, word string, tests []string) ([]string, bool)
}

// TestPackage is a package whose tests are run together.
type TestPackage struct {
	Name  string
	Dir   string
	Needs func(name string) bool // reports a dependency on the unit of that name
}

// SourceRulesOf returns the Sources of that name, and false if there are none.
func SourceRulesOf(name string) (SourceDependencyRules, bool) {
	for _, s := range AllStacks() {
		for _, x := range rowsOfPart(s.Sources) {
			if x.Name == name {
				return x, true
			}
		}
	}
	return SourceDependencyRules{}, false
}

// IsUnrelatedStackFile reports whether a file is code of a stack other than name and is unrelated to the
// files of that one: none of those, which have the ending, are in its directory or above, up to
// the root or to the other stack's package.
func IsUnrelatedStackFile(name, ending, file string, files []string) bool {
	if path.Ext(file) != ".css" && !isSourceOfOtherStack(name, file) {
		return false
	}
	for _, dir := range DirectoriesAbove(file) {
		for _, f := range files {
			switch {
			case path.Dir(f) != dir:
			case path.Ext(f) == ending:
				return false
			case dir != "." && marksOtherPackage(name, path.Base(f)):
				return true
			}
		}
	}
	return true
}

// isSourceOfOtherStack reports whether a file is a source file of another stack.
func isSourceOfOtherStack(but, file string) bool {
	for _, s := range AllStacks() {
		for _, x := range rowsOfPart(s.Sources) {
			if s.Name != but && x.Mine(file) {
				return true
			}
		}
	}
	return false
}

// marksOtherPackage reports whether a file marks a package of another stack with known Sources.
func marksOtherPackage(but, base string) bool {
	for _, s := range AllStacks() {
		if s.Name != but && s.Sources != nil && matchesAny(s.Markers, []string{base}) {
			return true
		}
	}
	return false
}

// DirectoriesAbove returns the directories of a file, the root last.
func DirectoriesAbove(file string) []string {
	var dirs []string
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		dirs = append(dirs, dir)
		if dir == "." || dir == "/" || strings.HasPrefix(dir, "..") {
			return dirs
		}
	}
}
