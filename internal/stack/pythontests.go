package stack

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack/cmdline"
)

// pythonTests gives a package of Python the tests that its tox.ini or noxfile.py
// runs, where that says more than the files do, and those that lie where nobody
// looks for them first.
func pythonTests(s Stack, p project, found []Found, judged func(string) bool) []Found {
	if judged("test") {
		return found
	}
	at := slices.IndexFunc(found, func(f Found) bool { return f.Gate == "test" })
	if dir, words := declared(p); len(words) > 0 && (dir != "" || words[0] != "pytest" && len(words) > 3 || at < 0) {
		f := s.command(p, append([]string{"{run}"}, words...))
		if dir != "" {
			f = shell("cd " + line(nil, []string{dir}) + " && " + line(nil, f))
		}
		g := Found{Stack: s.Name, Dir: p.dir, Step: Step{Gate: "test", Args: f, Format: "pytest", Tests: true}}
		if words[0] != "pytest" {
			g.Format = "unittest"
		}
		if at >= 0 {
			return append(slices.Delete(slices.Clone(found), at, at+1), g)
		}
		return append(found, g)
	}
	if at >= 0 {
		return found
	}
	return append(found, s.elsewhere(p)...)
}

// declared returns the command with which tox or nox runs the tests, and the
// directory that it changes to.
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

// elsewhere returns what runs tests that lie in none of the usual places.
func (s Stack) elsewhere(p project) []Found {
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
	if len(files) == 0 {
		return nil
	}
	g := Found{Stack: s.Name, Dir: p.dir, Step: Step{Gate: "test", Tests: true, Format: "unittest"}}
	for _, f := range files[:min(len(files), 40)] {
		if regexp.MustCompile(`(?m)^\s*(?:import pytest|from pytest)\b`).MatchString(p.read(f)) {
			g.Format = "pytest"
			g.Args = s.command(p, []string{"{run}", "pytest", "-p", "no:cacheprovider"})
			return []Found{s.fill(p, g)}
		}
	}
	dir := path.Dir(files[0])
	for _, f := range files {
		for dir != "." && !strings.HasPrefix(f, dir+"/") {
			dir = path.Dir(dir)
		}
	}
	g.Args = s.command(p, []string{"{run}", "python3", "-m", "unittest", "discover", "-v", "-s", dir})
	return []Found{g}
}

// collects reports whether the tests of a project of Python, as they are run from
// its root, are also those of a directory below.
func (p project) collects(rel string) bool {
	at := slices.ContainsFunc(strings.Split("pytest.ini pyproject.toml tox.ini setup.cfg", " "), func(f string) bool { return strings.Contains(p.read(f), "pytest") }) ||
		p.word("file:conftest.py|file:tests/conftest.py")
	if !at { // unittest looks into packages only
		for dir := rel; dir != "."; dir = path.Dir(dir) {
			if !p.word("file:" + path.Join(dir, "__init__.py")) {
				return false
			}
		}
		return true
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
