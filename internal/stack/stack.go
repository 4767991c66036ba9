// Package stack describes languages and their tools. Each is one value in one
// file: which files show that it is used, which commands build, lint and test
// it, what these print, how its packages are installed, and what its tests
// look like. Everything else asks for it here.
//
// The package is pure. It reads trees through [fs.FS] and runs nothing. To
// add a language, see docs/extend.md, and copy elixir.go.
package stack

import (
	"io/fs"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack/read"
)

// Formats returns all kinds of output that can be read.
func Formats() read.Set {
	var golang, checks, tests []read.Format
	for _, s := range All() {
		for _, f := range rows(s.Formats) {
			switch {
			case f.Go:
				golang = append(golang, f)
			case f.Tests:
				tests = append(tests, f)
			default:
				checks = append(checks, f)
			}
		}
	}
	return read.NewSet(golang, checks, tests)
}

// Verbs returns the rows of all stacks that say which commands may run.
func Verbs() string {
	var all strings.Builder
	for _, s := range All() {
		all.WriteString(s.Verbs)
	}
	return all.String()
}

// Read reads what a tool printed.
func Read(in read.Input) read.Report { return Formats().Read(in) }

// Stack is a language with the tools of one ecosystem. Every field but the name
// may be empty: then Nexus does without. What is large is made only when it is
// asked for, because names of files are looked up for each file of a tree.
type Stack struct {
	Name    string
	Markers []string // a directory with one of these files, which may be patterns, is a package of the stack
	Yields  []string // a directory with one of these files belongs to another stack
	Docs    Docs     // a directory below the root with these files is no package
	Alone   bool     // it is looked for only where no other stack is

	Unmarked []string // patterns of test files that make a root without a marker a package of the stack, where nothing else there runs tests

	Runners []Runner      // how the project's own tools are started; the first that fits
	Steps   func() []Step // what judges a package

	Formats func() []read.Format // what its tools print, besides the formats that languages share

	Lent   []DependencyDir     // directories with installed packages that a checkout is given
	Offers func() []ScriptFile // files that name commands
	// Expands returns the lines of scripts that words of a command name in a package,
	// and those that they run in turn, each after a line end. Nil: there are none.
	Expands func(at fs.FS, words []string) string
	// Handles returns what a runner's output says is still open when its tests are
	// done; nil: it never does. HandleName says in words what a kind of them is, empty
	// for one that it does not know.
	Handles    func(lines []string) []Handle
	HandleName func(kind string) string

	Installs func() []Install // how packages come to be beside their lock file; the first one wins
	Settings []string         // directories of the system in which its tools keep their settings
	Programs []string         // what its commands begin with; those need its packages, if any are installed

	Sources func() []Sources // how its files lead to each other
	Names   func() Names     // how its packages are called; see stack/monorepo

	Namings     func() []Naming             // what its runners call a test
	Running     func() []RunningTestFinder  // which test was under way
	Environment Environment                 // what its commands find in theirs
	Hosts       []Hosts                     // where its tools fetch packages
	Servers     []Server                    // language servers, the first for a file wins
	Warms       func(tree fs.FS) [][]string // commands that make ready what its gates of a tree need, and run nothing of it
	Counts      []string                    // commands that run tests, and say how many there were
	Written     []string                    // names of files that its tools write and people do not, in lower case

	// Needs returns where the source of the packages lies that a tree names itself, by
	// the text of its files, which is empty for one that is not there. Nil: unknown.
	Needs func(text func(file string) string) []DependencySource

	Listings []Listing // files that name packages; the first that fits
	Licences []Licence // which licence its packages have
	Stores   []Store   // where its tools keep what they fetched, below the home of their user

	Syntax  func() []Syntax  // how its sources look
	Lexicon func() []Lexicon // which of their words are drawn in colours
	Tests   Tests            // how its tests are written
	Configs []Config         // how its checks are configured

	Outlines func() []Outline // how its files are outlined in a code map

	Commands Commands // what its commands do besides

	Skeleton Skeleton // what a new project begins with

	// Verbs are rows that say which of its commands may run, in the form of
	// decide/policy/program/verbs.txt.
	Verbs string

	// find returns what judges the packages of a tree where Steps cannot say it.
	find func(tree fs.FS) []GateCommand
	// covers reports whether what judges a package judges one in a directory
	// below it, too. Nil: it does.
	covers func(outer project, rel, gate string) bool
	// refine replaces what Steps found in a package by what its files say in
	// more detail. Judged reports whether a package above has a gate for it.
	refine func(s Stack, p project, found []GateCommand, judged func(gate string) bool) []GateCommand
}

// Runner starts tools that a package manager installed.
type Runner struct {
	If     string // see [Step.If]
	Args   []string
	Script []string // runs a script of the manifest, where there are such
}

// Step is a command that a package of the stack can be judged by. Of the steps
// of one gate, the first that fits is taken.
type Step struct {
	Gate string // build, lint, type, format, test or e2e
	// Beside names a tool that judges beside others of its gate; of the steps
	// with the same one, the first that fits is taken.
	Beside string
	// If says when it fits, as words of which all must hold; | is between
	// words of which one must. file:PATTERN is a file of the package,
	// has:FILE:TEXT a text in one, script:NAME a script of package.json,
	// runs:NAME:TEXT a script that
	// begins with the text, or, with $ after it, is it; _ stands for a space there,
	// dep:NAME something that package.json needs, target:NAME a rule of the
	// Makefile, plugin:NAME a plugin of Maven that checks in the build,
	// rake:NAME a task of the Rakefile. ! in front turns a word around. Empty: always.
	If     string
	Args   []string // {run} stands for the runner's words, {script} for those with which it runs a script
	Format string   // of stack/read; see nexus parse --list
	Tests  bool     // none is no pass
	// Reports are patterns of JUnit files that the command writes, for tools
	// that say too little.
	Reports []string
	// Early says, in the words of If, when a type check judges before the build:
	// where it is the cheaper, and needs nothing that the build makes.
	Early string
	// Related are commands that run only the tests that a change concerns; the
	// first that fits.
	Related []PartialRun
	// Alone are commands that run one test and no other, to tell a flaky one
	// from a broken one; the first that fits.
	Alone []SingleTest
	// OpenHandleCheck are commands that say what keeps the runner from exiting when its tests
	// are done, and that end; the first that fits.
	Held []OpenHandleCheck
	// Cover are commands that say what the tests go through; the first that fits.
	Cover []Cover
	// Fix are commands that put right, by themselves, what the step would find;
	// all that fit.
	Fix []Fixer
}

// Fixer is a command that changes files for the better: a formatter, or a
// linter that is told to.
type Fixer struct {
	If   string   // see [Step.If]
	Args []string // {files} stands for the changed files, {dirs} for their directories
	Ends []string // of the names of files that it is for; empty: of all
	New  bool     // only files that are new: others may never have been in order
}

// PartialRun is a command that runs some of the tests of a step. In its words {tests}
// stands for test files, and {changed} for the files that changed, where the
// runner itself finds their tests; see [Sources.Words] for others.
type PartialRun struct {
	If     string // see [Step.If]
	By     string // the name of the [Sources] by which the tests are found
	Args   []string
	Format string // empty: the step's
	// Reports says that it writes the reports of the step, too.
	Reports bool
}

// SingleTest is a command that runs one test of a step by its name. In its words
// {test} stands for the name as a pattern that nothing else matches, or as it
// is, and {file} for the test's file; see [SingleTest.Name]. No shell reads the name.
type SingleTest struct {
	If     string // see [Step.If]
	Name   string // how findings call a test, and what the runner wants; one of the below
	Args   []string
	Format string // empty: the step's
	// Reports says that it, too, writes the reports of the step, and says nothing
	// of tests that pass but there.
	Reports bool
}

// OpenHandleCheck is a command that runs the tests of a step, says what is still open when
// they are done, and exits then, whatever that is: by what the runner can do
// itself, or by a probe of ours, which writes lines as gate/hang reads them.
type OpenHandleCheck struct {
	If     string // see [Step.If]
	Args   []string
	Format string // of the step, where it is a script: whose words they are; empty: the step's
	Flag   string // what makes the runner exit by force, for people
	// Told is a pattern of a line that tells how one test ended, for a runner that
	// says nothing more when it cannot exit. After a long silence it is held.
	Told string
}

// What runners call a test.
const (
	NamePytest   = "pytest"   // file.py::Class::test[case], as it is
	NameUnittest = "unittest" // package.module.Class.test, as it is
	NameTitles   = "titles"   // suite > test, as a pattern of JavaScript over titles with spaces between
	NameInFile   = "in-file"  // file > suite > test, as the file and such a pattern
	NameLast     = "last"     // suite > test, as a pattern over the last title, with or without the others
	NameExact    = "exact"    // the name as it is
	NameCTest    = "ctest"    // a pattern of CMake
	NameRuby     = "ruby"     // a pattern of Ruby over the whole description
	NameNextest  = "nextest"  // binary test, as an expression of nextest
	NameMethod   = "method"   // package.Class.method, with # before the method
	NameDotted   = "dotted"   // package.Class.method, as it is
	NameMinitest = "minitest" // Class#test, as it is
	NamePlay     = "play"     // file > suite > test, as a pattern of JavaScript over all of that with spaces between
	NamePHP      = "php"      // Class::test with data set, as a pattern with slashes around it
)

func shell(line string) []string { return []string{"sh", "-c", line} }

// rows returns the rows of a part of a [Stack]; none where there is no such part.
func rows[T any](part func() []T) []T {
	if part == nil {
		return nil
	}
	return part()
}
