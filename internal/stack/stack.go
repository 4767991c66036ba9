// Package stack describes languages and their tools. Each stack is one value in one file. It
// lists the files that mark a package, the commands that build, lint and test it, the formats
// of their output, the ways to install its packages, and the form of its tests. All other
// packages read these facts here.
//
// The package is pure: it reads trees through [fs.FS] and runs nothing. To add a language, see
// docs/extend.md, and copy elixir.go.
package stack

import (
	"io/fs"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
)

var allStacks = listStacks()

// AllStacks returns every stack. If two stacks claim the same file, the first one wins. All callers
// share the slice, and must not change it: it is asked for each file of a tree.
func AllStacks() []Stack { return allStacks }

// OutputFormats returns all output formats that can be read.
func OutputFormats() outputparser.OutputFormatSet {
	var golang, checks, tests []outputparser.OutputFormat
	for _, s := range AllStacks() {
		for _, f := range rowsOfPart(s.Formats) {
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
	return outputparser.NewFormatSet(golang, checks, tests)
}

// CommandRules returns the rows of all stacks about the commands of their tools.
func CommandRules() string {
	var all strings.Builder
	for _, s := range AllStacks() {
		all.WriteString(s.CommandRules)
	}
	return all.String()
}

// ReadOutput parses the output of a tool.
func ReadOutput(in outputparser.ToolOutput) outputparser.ParsedToolOutput {
	return OutputFormats().ReadOutput(in)
}

// Stack is a language with the tools of one ecosystem. Every field except the name may be
// empty: Nexus then works without it. Large parts are functions, because file names are matched
// against the stacks for each file of a tree.
type Stack struct {
	Name    string
	Markers []string        // a directory with one of these files, which may be patterns, is a package of the stack
	Yields  []string        // a directory with one of these files belongs to another stack
	Docs    DocsToolMarkers // a directory below the root with these files is no package
	Alone   bool            // it applies only where no other stack does

	Unmarked []string // test files that mark a root as a package if nothing else there runs tests; patterns

	Runners []InstalledToolRunner        // commands that start the project's own tools; the first that fits
	Steps   func() []PackageCheckCommand // the checks of a package

	Formats func() []outputparser.OutputFormat // output formats of its tools, besides the common ones

	Lent   []DependencyDir     // directories with installed packages that a checkout receives
	Offers func() []ScriptFile // files that define commands
	// Expands returns the lines of the scripts that the words of a command name in a package,
	// and of those that they run in turn, each after a line end. Nil: there are none.
	Expands func(at fs.FS, words []string) string
	// Handles returns the resources that a runner reports as still open when its tests are
	// done; nil: it never does. HandleName describes a kind of them in words, "" for an unknown
	// one.
	Handles    func(lines []string) []OpenHandle
	HandleName func(kind string) string

	Installs func() []InstallMethod // ways to install the packages of a lock file; the first one wins
	Settings []string               // directories of the system with the settings of its tools
	Programs []string               // first words of its commands; those need its packages, if any are installed

	Sources func() []SourceDependencyRules // how its files depend on each other
	Names   func() PackageNaming           // the names of its packages; see stack/monorepo

	Namings     func() []TestNameConverter  // names of a test in its runners
	Running     func() []RunningTestFinder  // finds the test that was running
	Environment ToolEnvironment             // environment of its commands
	Hosts       []RegistryHosts             // servers from which its tools fetch packages
	Servers     []LanguageServer            // language servers, the first for a file wins
	Warms       func(tree fs.FS) [][]string // commands that prepare its gates' dependencies and run no code of the tree
	Counts      []string                    // commands that run tests and print their number
	Written     []string                    // names of files that its tools write and people do not, in lower case

	// Needs returns the locations of the source of direct dependencies. The function text
	// returns the content of a file, "" if it does not exist. Nil: unknown.
	Needs func(text func(file string) string) []PackageSourceDir

	Listings []PackageListFormat    // files that name packages; the first that fits
	Licences []LicenceFinder        // licences of its packages
	Stores   []PackageDownloadCache // directories of fetched packages, below the home of their user

	Syntax  func() []SourceSyntax // syntax of its sources
	Tests   LanguageTestSyntax    // the form of its tests
	Configs []CheckConfigPatterns // configuration of its checks

	Outlines func() []OutlinePatterns // outlines of its files for a code map

	Skeleton ProjectSkeleton // first files of a new project

	// CommandRules are rows about the commands of its tools, in the form of
	// decide/policy/rules.txt: what publishes, what installs, and what only builds and tests.
	CommandRules string

	// find returns the checks of the packages of a tree if Steps cannot describe them.
	find func(tree fs.FS) []PackageGateCommand
	// covers reports whether a package's gate also checks a package in a directory below it.
	// Nil: it does.
	covers func(outer packageInspector, rel, gate string) bool
	// refine replaces the gates that Steps found in a package by more exact ones from its
	// files. Judged reports whether a package above has a gate of that name for it.
	refine func(s Stack, p packageInspector, found []PackageGateCommand, judged func(gate string) bool) []PackageGateCommand
}

// InstalledToolRunner starts tools that a package manager installed.
type InstalledToolRunner struct {
	If     string // see [PackageCheckCommand.If]
	Args   []string
	Script []string // runs a script of the manifest, if it has any
}

// PackageCheckCommand is a command that checks a package of the stack. Of the steps of one gate, the first
// that fits is used.
type PackageCheckCommand struct {
	Gate string // build, lint, type, format, test or e2e
	// Beside names a tool that runs in addition to others of its gate. Of the steps with the
	// same Beside, the first that fits is used.
	Beside string
	// If is the condition, as words that all must hold; | separates words of which one must.
	// file:PATTERN is a file of the package, has:FILE:TEXT a text in one, script:NAME a script
	// of package.json, runs:NAME:TEXT a script that begins with the text, or, with $ after it,
	// equals it; _ in it is a space, dep:NAME a dependency in package.json, target:NAME a rule
	// of the Makefile, plugin:NAME a Maven plugin that checks in the build, rake:NAME a task of
	// the Rakefile. ! in front negates a word. Empty: always.
	If     string
	Args   []string // {run} is replaced by the runner's words, {script} by those that run a script
	Format string   // of stack/outputparser; see nexus parse --list
	Tests  bool     // a run without tests does not pass
	// Reports are patterns of JUnit files that the command writes, for tools whose output is
	// not enough.
	Reports []string
	// Early is the condition, in the words of If, under which a type check runs before the
	// build: where it is cheaper and needs no result of the build.
	Early string
	// Related are commands that run only the tests that a change affects; the first that fits.
	Related []PartialTestCommand
	// Alone are commands that run a single test, to tell a flaky one from a broken one; the
	// first that fits.
	Alone []SingleTestCommand
	// Held are commands that report what keeps the runner from exiting when its tests are done,
	// and then exit; the first that fits.
	Held []OpenResourceTestCommand
	// Cover are commands that measure the coverage of the tests; the first that fits.
	Cover []CoverageCommand
	// Fix are commands that fix the step's findings by themselves; all that fit.
	Fix []FixCommand
}

// FixCommand is a command that improves files: a formatter, or a linter with an option to fix.
type FixCommand struct {
	If   string   // see [PackageCheckCommand.If]
	Args []string // {files} is replaced by the changed files, {dirs} by their directories
	Ends []string // endings of the file names that it is for; empty: all
	New  bool     // only new files: others may never have been in order
}

// PartialTestCommand is a command that runs some of the tests of a step. In its words {tests} is
// replaced by test files, and {changed} by the changed files, if the runner itself finds their
// tests; see [SourceDependencyRules.CommandWords] for others.
type PartialTestCommand struct {
	If     string // see [PackageCheckCommand.If]
	By     string // the name of the [SourceDependencyRules] that find the tests
	Args   []string
	Format string // empty: the step's
	// Reports is true if it also writes the reports of the step.
	Reports bool
}

// SingleTestCommand is a command that runs one test of a step by its name. In its words {test} is
// replaced by the name, as a pattern that matches nothing else or unchanged, and {file} by the
// test's file; see [SingleTestCommand.Name]. No shell reads the name.
type SingleTestCommand struct {
	If     string // see [PackageCheckCommand.If]
	Name   string // the form of the name in findings and for the runner; one of the constants below
	Args   []string
	Format string // empty: the step's
	// Reports is true if it also writes the reports of the step, and reports passing tests only
	// there.
	Reports bool
}

// OpenResourceTestCommand is a command that runs the tests of a step, reports the resources that are
// still open when they are done, and then exits in any case. It uses the runner's own option,
// or a probe that writes lines in the format of gate/hang.
type OpenResourceTestCommand struct {
	If     string // see [PackageCheckCommand.If]
	Args   []string
	Format string // format of the step if it is a script: the runner that it is for; empty: the step's
	Flag   string // makes the runner exit by force, for people
	// Told matches a line with the result of one test, for a runner that prints nothing more
	// when it cannot exit. After such a line, a long silence starts the check.
	Told string
}

// Forms of the name of a test.
const (
	NamePytest   = "pytest"   // file.py::Class::test[case], unchanged
	NameUnittest = "unittest" // package.module.Class.test, unchanged
	NameTitles   = "titles"   // suite > test, as a JavaScript pattern over titles with spaces between
	NameInFile   = "in-file"  // file > suite > test, as the file and such a pattern
	NameLast     = "last"     // suite > test, as a pattern over the last title, with or without the others
	NameExact    = "exact"    // the name unchanged
	NameCTest    = "ctest"    // a pattern of CMake
	NameRuby     = "ruby"     // a pattern of Ruby over the whole description
	NameNextest  = "nextest"  // binary test, as an expression of nextest
	NameMethod   = "method"   // package.Class.method, with # before the method
	NameDotted   = "dotted"   // package.Class.method, unchanged
	NameMinitest = "minitest" // Class#test, unchanged
	NamePlay     = "play"     // file > suite > test, as a JavaScript pattern over all of it with spaces between
	NamePHP      = "php"      // Class::test with data set, as a pattern with slashes around it
)

func shellCommand(line string) []string { return []string{"sh", "-c", line} }

// rowsOfPart returns the rows of a part of a [Stack]; none if the part is nil.
func rowsOfPart[T any](part func() []T) []T {
	if part == nil {
		return nil
	}
	return part()
}
