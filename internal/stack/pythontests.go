package stack

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack/scriptcommands"
)

// addPythonTestCommands adds to a Python package the test commands of its tox.ini or noxfile.py, if they
// contain more than the files show, and commands for tests outside of the usual directories.
func addPythonTestCommands(s Stack, p packageInspector, found []PackageGateCommand, judged func(string) bool) []PackageGateCommand {
	if judged("test") {
		return found
	}
	at := slices.IndexFunc(found, func(f PackageGateCommand) bool { return f.Gate == "test" })
	if dir, words := declaredTestCommand(p); len(words) > 0 && (dir != "" || words[0] != "pytest" && len(words) > 3 || at < 0) {
		f := s.expandRunPlaceholder(p, append([]string{"{run}"}, words...))
		if dir != "" {
			f = shellCommand("cd " + quoteLine(nil, []string{dir}) + " && " + quoteLine(nil, f))
		}
		g := PackageGateCommand{Stack: s.Name, Dir: p.dir, PackageCheckCommand: PackageCheckCommand{Gate: "test", Args: f, Format: "pytest", Tests: true}}
		if words[0] != "pytest" {
			g.Format = "unittest"
		}
		if at >= 0 {
			return append(slices.Delete(slices.Clone(found), at, at+1), g)
		}
		return append(found, g)
	}
	files := p.pythonTestFiles()
	switch {
	case at < 0:
		return append(found, s.unusualTestCommands(p, files)...)
	case found[at].Format == "unittest" && (p.usesPytest(files) || !slices.ContainsFunc(files, p.isFoundByUnittest)):
		return append(slices.Delete(slices.Clone(found), at, at+1), s.unusualTestCommands(p, files)...)
	case found[at].Args[0] == "pytest" && len(files) > 0 && !p.usesPytest(files):
		found[at].Else = quoteLine(nil, s.unittestCommand(p, files).Args)
	}
	return found
}

// isFoundByUnittest reports whether unittest finds a file of the package from its directory: it
// searches only packages, for files with one pattern of names.
func (p packageInspector) isFoundByUnittest(file string) bool {
	if !strings.HasPrefix(path.Base(file), "test") {
		return false
	}
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if !p.conditionWordHolds("file:" + path.Join(dir, "__init__.py")) {
			return false
		}
	}
	return true
}

// usesPytest reports whether tests are written for pytest: unittest would find none of them.
func (p packageInspector) usesPytest(files []string) bool {
	pytest := regexp.MustCompile(`(?m)^\s*(?:import pytest|from pytest)\b`)
	function := regexp.MustCompile(`(?m)^(?:async )?def test_\w*\(`)
	unittest := regexp.MustCompile(`\bunittest\b|\bTestCase\b`)
	some := false
	for _, f := range files[:min(len(files), 40)] {
		text := p.readText(f)
		if pytest.MatchString(text) {
			return true
		}
		if unittest.MatchString(text) {
			return false
		}
		some = some || function.MatchString(text)
	}
	return some
}

// pythonTestFiles returns the files of a Python package with names of tests.
func (p packageInspector) pythonTestFiles() []string {
	var files []string
	for _, f := range p.files {
		rel, in := f, true
		if p.dir != "." {
			rel, in = strings.CutPrefix(f, p.dir+"/")
		}
		base := path.Base(rel)
		if in && strings.HasSuffix(base, ".py") && (strings.HasPrefix(base, "test_") || strings.HasSuffix(base, "_test.py")) {
			files = append(files, rel)
		}
	}
	return files
}

// declaredTestCommand returns the command with which tox or nox runs the tests, and its working directory.
func declaredTestCommand(p packageInspector) (dir string, words []string) {
	if dir, calls := scriptcommands.ToxTestCommands(p.readText("tox.ini")); len(calls) > 0 && p.hasFilesIn(dir) {
		return dir, calls[0]
	}
	if calls := scriptcommands.NoxTestCommands(p.readText("noxfile.py")); len(calls) > 0 {
		return "", calls[0]
	}
	return "", nil
}

// hasFilesIn reports whether a directory of the package has files.
func (p packageInspector) hasFilesIn(dir string) bool {
	dir = path.Join(p.dir, dir)
	return dir == "." || slices.ContainsFunc(p.files, func(f string) bool { return strings.HasPrefix(f, dir+"/") })
}

// unusualTestCommands returns commands for tests outside of the usual directories, or that unittest does
// not find by itself.
func (s Stack) unusualTestCommands(p packageInspector, files []string) []PackageGateCommand {
	switch {
	case len(files) == 0:
		return nil
	case p.usesPytest(files):
		return []PackageGateCommand{s.addTestAndFixCommands(p, s.testStep(p, "pytest"))}
	}
	return []PackageGateCommand{s.unittestCommand(p, files)}
}

// unittestCommand returns a unittest command that finds at least one test.
func (s Stack) unittestCommand(p packageInspector, files []string) PackageGateCommand {
	g := s.testStep(p, "unittest")
	if slices.ContainsFunc(files, p.isFoundByUnittest) {
		return g
	}
	dir := path.Dir(files[0])
	for _, f := range files {
		for dir != "." && !strings.HasPrefix(f, dir+"/") {
			dir = path.Dir(dir)
		}
	}
	if g.Args = append(g.Args, "-s", dir); !slices.ContainsFunc(files, func(f string) bool { return strings.HasPrefix(path.Base(f), "test") }) {
		g.Args = append(g.Args, "-p", "*_test.py")
	}
	g.Related, g.Alone, g.Held, g.Cover = nil, nil, nil, nil // these start in the package's directory
	return g
}

// testStep returns the test step of the stack with an output format.
func (s Stack) testStep(p packageInspector, format string) PackageGateCommand {
	steps := rowsOfPart(s.Steps)
	step := steps[slices.IndexFunc(steps, func(x PackageCheckCommand) bool { return x.Gate == "test" && x.Format == format })]
	step.Args = s.expandRunPlaceholder(p, step.Args)
	return PackageGateCommand{Stack: s.Name, Dir: p.dir, PackageCheckCommand: step}
}

// collectsBelow reports whether the tests of a Python project, run from its root, include those of a
// directory below.
func (p packageInspector) collectsBelow(rel string) bool {
	at := slices.ContainsFunc(strings.Split("pytest.ini pyproject.toml tox.ini setup.cfg", " "), func(f string) bool { return strings.Contains(p.readText(f), "pytest") }) ||
		p.conditionWordHolds("file:conftest.py|file:tests/conftest.py")
	if !at {
		return p.isFoundByUnittest(path.Join(rel, "test_x.py"))
	}
	var dirs []string
	list := regexp.MustCompile(`(?m)^testpaths[ \t]*=[ \t]*(\[[^\]]*\]|(?:[^\n\[]*(?:\n[ \t]+[^\n]+)*))`)
	for _, f := range []string{"pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg"} {
		if m := list.FindStringSubmatch(p.readText(f)); m != nil {
			dirs = strings.FieldsFunc(m[1], func(r rune) bool { return strings.ContainsRune(" \t\n\r,[]\"'", r) })
			break
		}
	}
	return len(dirs) == 0 || slices.ContainsFunc(dirs, func(d string) bool {
		d = path.Clean(d)
		return d == "." || rel == d || strings.HasPrefix(rel, d+"/") || strings.HasPrefix(d, rel+"/") || strings.ContainsAny(d, "*?[")
	})
}
