package stack

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack/cmdline"
)

// pythonTests adds to a Python package the test commands of its tox.ini or noxfile.py, if they
// contain more than the files show, and commands for tests outside of the usual directories.
func pythonTests(s Stack, p project, found []GateCommand, judged func(string) bool) []GateCommand {
	if judged("test") {
		return found
	}
	at := slices.IndexFunc(found, func(f GateCommand) bool { return f.Gate == "test" })
	if dir, words := declared(p); len(words) > 0 && (dir != "" || words[0] != "pytest" && len(words) > 3 || at < 0) {
		f := s.command(p, append([]string{"{run}"}, words...))
		if dir != "" {
			f = shell("cd " + line(nil, []string{dir}) + " && " + line(nil, f))
		}
		g := GateCommand{Stack: s.Name, Dir: p.dir, Step: Step{Gate: "test", Args: f, Format: "pytest", Tests: true}}
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
		return append(found, s.elsewhere(p, files)...)
	case found[at].Format == "unittest" && (p.forPytest(files) || !slices.ContainsFunc(files, p.discovered)):
		return append(slices.Delete(slices.Clone(found), at, at+1), s.elsewhere(p, files)...)
	case found[at].Args[0] == "pytest" && len(files) > 0 && !p.forPytest(files):
		found[at].Else = line(nil, s.unittest(p, files).Args)
	}
	return found
}

// discovered reports whether unittest finds a file of the package from its directory: it
// searches only packages, for files with one pattern of names.
func (p project) discovered(file string) bool {
	if !strings.HasPrefix(path.Base(file), "test") {
		return false
	}
	for dir := path.Dir(file); dir != "."; dir = path.Dir(dir) {
		if !p.word("file:" + path.Join(dir, "__init__.py")) {
			return false
		}
	}
	return true
}

// forPytest reports whether tests are written for pytest: unittest would find none of them.
func (p project) forPytest(files []string) bool {
	pytest := regexp.MustCompile(`(?m)^\s*(?:import pytest|from pytest)\b`)
	function := regexp.MustCompile(`(?m)^(?:async )?def test_\w*\(`)
	unittest := regexp.MustCompile(`\bunittest\b|\bTestCase\b`)
	some := false
	for _, f := range files[:min(len(files), 40)] {
		text := p.read(f)
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
func (p project) pythonTestFiles() []string {
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

// declared returns the command with which tox or nox runs the tests, and its working directory.
func declared(p project) (dir string, words []string) {
	if dir, calls := cmdline.Tox(p.read("tox.ini")); len(calls) > 0 && p.lies(dir) {
		return dir, calls[0]
	}
	if calls := cmdline.Nox(p.read("noxfile.py")); len(calls) > 0 {
		return "", calls[0]
	}
	return "", nil
}

// lies reports whether a directory of the package has files.
func (p project) lies(dir string) bool {
	dir = path.Join(p.dir, dir)
	return dir == "." || slices.ContainsFunc(p.files, func(f string) bool { return strings.HasPrefix(f, dir+"/") })
}

// elsewhere returns commands for tests outside of the usual directories, or that unittest does
// not find by itself.
func (s Stack) elsewhere(p project, files []string) []GateCommand {
	switch {
	case len(files) == 0:
		return nil
	case p.forPytest(files):
		return []GateCommand{s.fill(p, s.testStep(p, "pytest"))}
	}
	return []GateCommand{s.unittest(p, files)}
}

// unittest returns a unittest command that finds at least one test.
func (s Stack) unittest(p project, files []string) GateCommand {
	g := s.testStep(p, "unittest")
	if slices.ContainsFunc(files, p.discovered) {
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
func (s Stack) testStep(p project, format string) GateCommand {
	steps := rows(s.Steps)
	step := steps[slices.IndexFunc(steps, func(x Step) bool { return x.Gate == "test" && x.Format == format })]
	step.Args = s.command(p, step.Args)
	return GateCommand{Stack: s.Name, Dir: p.dir, Step: step}
}

// collects reports whether the tests of a Python project, run from its root, include those of a
// directory below.
func (p project) collects(rel string) bool {
	at := slices.ContainsFunc(strings.Split("pytest.ini pyproject.toml tox.ini setup.cfg", " "), func(f string) bool { return strings.Contains(p.read(f), "pytest") }) ||
		p.word("file:conftest.py|file:tests/conftest.py")
	if !at {
		return p.discovered(path.Join(rel, "test_x.py"))
	}
	var dirs []string
	list := regexp.MustCompile(`(?m)^testpaths[ \t]*=[ \t]*(\[[^\]]*\]|(?:[^\n\[]*(?:\n[ \t]+[^\n]+)*))`)
	for _, f := range []string{"pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg"} {
		if m := list.FindStringSubmatch(p.read(f)); m != nil {
			dirs = strings.FieldsFunc(m[1], func(r rune) bool { return strings.ContainsRune(" \t\n\r,[]\"'", r) })
			break
		}
	}
	return len(dirs) == 0 || slices.ContainsFunc(dirs, func(d string) bool {
		d = path.Clean(d)
		return d == "." || rel == d || strings.HasPrefix(rel, d+"/") || strings.HasPrefix(d, rel+"/") || strings.ContainsAny(d, "*?[")
	})
}
