// Package builds judges the programs that build, test and fetch: what they are
// told to do, and which of their options run or write something else.
package builds

import (
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/table"
)

// Paths is what is told of the files that a program is given.
type Paths interface {
	Reads(words []shell.Word)
	Writes(words []shell.Word)
	Own(w shell.Word) bool // it is for certain a file of the tree that may be changed
}

// Runs is what is told of what may not simply run, and of what else runs.
type Runs interface {
	Ask(rule, reason string)
	Run(argv []shell.Word)    // another program
	Script(argv []shell.Word) // a program of the tree, named by its path
	Entry(argv []shell.Word)  // a program that the project brings under a name of its own
	Special(name string) bool
	Input() (string, bool) // what stands on the command line as its standard input, if all of that is seen
}

type judge struct {
	Paths
	Runs
}

// Judge judges a simple command whose program builds, tests or fetches, and
// reports whether it is one.
func Judge(argv []shell.Word, p Paths, r Runs) bool {
	j := judge{p, r}
	switch name := argv[0].Text; name {
	case "go":
		j.golang(argv)
	case "pip", "pip3":
		j.pip(argv)
	case "cmake":
		j.cmake(argv)
	case "python", "python3", "node", "ruby", "perl", "php", "java":
		j.interpreter(argv)
	default:
		v, ok := table.FindVerbs(name)
		return ok && j.verbs(argv, v)
	}
	return true
}

// Knows reports whether a program builds, tests or fetches.
func Knows(name string) bool {
	if slices.Contains([]string{"go", "cmake", "pip", "pip3", "python", "python3", "node", "ruby", "perl", "php", "java"}, name) {
		return true
	}
	_, ok := table.FindVerbs(name)
	return ok
}

// Versioned reports whether a name is that of an interpreter with its version.
func Versioned(name string) bool {
	return regexp.MustCompile(`^(python|pip|php|ruby|perl|node)3?(\.\d+)+$`).MatchString(name)
}

// unseen asks where a word that is not seen could be one of the options.
func (j judge) unseen(asked []string, words []shell.Word) {
	if shell.MayHideOption(asked, words) {
		j.Ask("path.unseen", "it may be given options that are not known before it runs")
	}
}

// trimmed returns an interpreter's name without its version.
func trimmed(name string) string { return strings.TrimRight(name, "3") }
