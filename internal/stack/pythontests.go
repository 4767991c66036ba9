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
	if dir, calls := Tox(p.read("tox.ini")); len(calls) > 0 && p.lies(dir) {
		return dir, calls[0]
	}
	if calls := Nox(p.read("noxfile.py")); len(calls) > 0 {
		return "", calls[0]
	}
	return "", nil
}

// lies reports whether a directory of the package has files.
func (p project) lies(dir string) bool {
	dir = path.Join(p.dir, dir)
	return dir == "." || slices.ContainsFunc(p.files, func(f string) bool { return strings.HasPrefix(f, dir+"/") })
}

// tests returns the words of a command that runs tests, as we start it.
func tests(words []string) ([]string, bool) {
	for len(words) > 0 && (words[0] == "coverage" || words[0] == "run" || words[0] == "-") {
		words = words[1:]
	}
	for len(words) > 0 && strings.HasPrefix(words[0], "-") && words[0] != "-m" {
		words = words[1:] // options of what measures
	}
	if len(words) > 0 && words[0] == "-m" {
		words = append([]string{"python3"}, words...)
	}
	if len(words) == 0 {
		return nil, false
	}
	if regexp.MustCompile(`^python[\d.]*$`).MatchString(path.Base(words[0])) {
		if len(words) < 3 || words[1] != "-m" {
			return nil, false
		}
		if words[2] == "unittest" {
			return append([]string{"python3", "-m", "unittest"}, words[3:]...), true
		}
		words = words[2:]
	}
	if words[0] != "pytest" && words[0] != "py.test" {
		return nil, false
	}
	return append([]string{"pytest", "-p", "no:cacheprovider"}, words[1:]...), true
}

// testenv returns what the plain environment of a tox.ini says, by its keys.
func testenv(text string) map[string][]string {
	section, key := "", ""
	values := map[string][]string{}
	for l := range strings.Lines(text) {
		l = strings.TrimRight(l, " \t\r\n")
		trimmed := strings.TrimSpace(l)
		switch {
		case trimmed == "" || strings.HasPrefix(trimmed, "#") || strings.HasPrefix(trimmed, ";"):
		case strings.HasPrefix(l, "["):
			section, key = strings.Trim(l, "[]"), ""
		case l[0] == ' ' || l[0] == '\t':
			if section == "testenv" && key != "" {
				values[key] = append(values[key], trimmed)
			}
		default:
			k, v, _ := strings.Cut(l, "=")
			key = strings.TrimSpace(k)
			if section == "testenv" {
				values[key] = nil
				if v = strings.TrimSpace(v); v != "" {
					values[key] = []string{v}
				}
			}
		}
	}
	return values
}

// Tox returns the commands of a tox.ini's plain environment that run tests,
// and the directory that they run in, below that of the file. What cannot be
// told without tox is left out.
func Tox(text string) (dir string, calls [][]string) {
	values := testenv(text)
	for _, name := range []string{"changedir", "change_dir"} {
		if v := values[name]; len(v) == 1 {
			dir = path.Clean(strings.TrimPrefix(strings.TrimPrefix(v[0], "{toxinidir}"), "/"))
			if dir == ".." || strings.HasPrefix(dir, "../") || strings.ContainsAny(dir, "{}\x00") || path.IsAbs(dir) {
				return "", nil
			}
		}
	}
	if dir == "." {
		dir = ""
	}
	posargs := regexp.MustCompile(`\{posargs:?([^{}]*)\}`)
	for _, l := range values["commands"] {
		l = posargs.ReplaceAllString(l, "$1")
		l = strings.NewReplacer("{envpython}", "python3", "{toxinidir}/", up(dir), "{toxinidir}", path.Clean("./"+up(dir))).Replace(l)
		words, ok := cmdline.Split(l)
		if !ok || strings.ContainsAny(l, "{}") {
			continue
		}
		if run, ok := tests(words); ok {
			calls = append(calls, run)
		}
	}
	return dir, calls
}

// up leads from a directory back to where it is counted from.
func up(dir string) string {
	if dir == "" {
		return ""
	}
	return strings.Repeat("../", strings.Count(dir, "/")+1)
}

// Nox returns the commands of a noxfile.py that run tests, as far as they are
// plain text.
func Nox(text string) (calls [][]string) {
	call := regexp.MustCompile(`session\.run\(([^()]*)\)`)
	word := regexp.MustCompile(`^\s*(?:"([^"\\]*)"|'([^'\\]*)')\s*$`)
	for _, m := range call.FindAllStringSubmatch(text, -1) {
		var words []string
		for arg := range strings.SplitSeq(m[1], ",") {
			w := word.FindStringSubmatch(arg)
			switch {
			case w != nil:
				words = append(words, w[1]+w[2])
			case strings.Contains(arg, "session.posargs") || strings.TrimSpace(arg) == "" || strings.Contains(arg, "="):
			default:
				words = append(words, "")
			}
		}
		if run, ok := tests(words); ok && !slices.Contains(run, "") {
			calls = append(calls, run)
		}
	}
	return calls
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
