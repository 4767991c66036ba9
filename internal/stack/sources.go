package stack

import (
	"io/fs"
	"path"
	"strings"
)

// Sources is how the files of a language lead to each other, so that the tests
// can be found which a change concerns.
type Sources struct {
	Name string                 // as in [PartialRun.By]
	Mine func(file string) bool // it is a source file
	Test func(file string) bool // the runner takes it for tests; nil where tests are found by packages
	// Uses returns what says which other source files of a tree a file may need,
	// and false for one that may need any. Have are all of them.
	Uses func(tree fs.FS, have map[string]bool) func(file string) (files []string, sure bool)
	// Units returns the packages of a tree. Nil: tests are found file by file.
	Units func(tree fs.FS, files []string) []Unit
	// Chooses says why the build chooses its tests in a way that naming some would
	// overrule, empty where it does not. Nil: it never does.
	Chooses func(tree fs.FS, files []string) string
	// Words returns what a word of [PartialRun.Args] stands for, given the tests to run as
	// seen from a directory, and false for one that stands for itself. Nil: all do
	// but those that every language has.
	Words func(tree fs.FS, dir, word string, tests []string) ([]string, bool)
}

// Unit is a package whose tests are run together.
type Unit struct {
	Name  string
	Dir   string
	Needs func(name string) bool // another one by that name
}

// SourcesOf returns how the files of a language lead to each other, false for a
// name that none has.
func SourcesOf(name string) (Sources, bool) {
	for _, s := range All() {
		for _, x := range rows(s.Sources) {
			if x.Name == name {
				return x, true
			}
		}
	}
	return Sources{}, false
}

// Elsewhere reports whether a file is code of another stack than one, which has
// nothing to do with the files of that one: there are none of those, which have
// an ending, in its directory or above, up to the root or the other's package.
func Elsewhere(name, ending, file string, files []string) bool {
	if path.Ext(file) != ".css" && !isSource(name, file) {
		return false
	}
	for _, dir := range Above(file) {
		for _, f := range files {
			switch {
			case path.Dir(f) != dir:
			case path.Ext(f) == ending:
				return false
			case dir != "." && otherPackage(name, path.Base(f)):
				return true
			}
		}
	}
	return true
}

// isSource reports whether a file is a source file of another stack.
func isSource(but, file string) bool {
	for _, s := range All() {
		for _, x := range rows(s.Sources) {
			if s.Name != but && x.Mine(file) {
				return true
			}
		}
	}
	return false
}

// otherPackage reports whether a file marks a package of another stack whose
// sources are followed.
func otherPackage(but, base string) bool {
	for _, s := range All() {
		if s.Name != but && s.Sources != nil && marked(s.Markers, []string{base}) {
			return true
		}
	}
	return false
}

// Above returns the directories of a file, the root last.
func Above(file string) []string {
	var dirs []string
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		dirs = append(dirs, dir)
		if dir == "." || dir == "/" || strings.HasPrefix(dir, "..") {
			return dirs
		}
	}
}
