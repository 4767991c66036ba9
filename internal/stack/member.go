package stack

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v4"
)

// judges reports whether what judges a package judges one in a directory below
// it, too: a workspace judges its members, and nothing else. Where only a program
// could tell, it does.
func (s Stack) judges(outer project, at, gate string) bool {
	rel := at
	if outer.dir != "." {
		rel = strings.TrimPrefix(at, outer.dir+"/")
	}
	switch s.Name {
	case "node":
		inner := outer
		inner.dir = at
		m := inner.manifest()
		return len(m.Scripts)+len(m.Dependencies)+len(m.DevDependencies) == 0 || outer.member(rel)
	case "rust":
		return outer.crate(rel)
	case "maven":
		return outer.module(rel)
	case "gradle":
		return outer.included(rel)
	case "python":
		return gate != "test" || outer.collects(rel)
	case "php":
		return gate != "test" || outer.suite(rel)
	}
	return true
}

// aside reports whether a directory below another package of the stack holds what
// shows or tries something: nobody means it to be judged with the rest.
func aside(rel string) bool {
	return slices.ContainsFunc(strings.Split(rel, "/"), func(name string) bool {
		switch name {
		case "example", "examples", "sample", "samples", "template", "templates", "demo", "demos", "playground", "playgrounds", "benchmark", "benchmarks", "bench", "test", "tests", "__tests__", "__fixtures__", "fixture":
			return true
		}
		return strings.HasPrefix(name, "template-")
	})
}

// fits reports whether a directory fits one of the patterns and none of those
// that begin with an exclamation mark.
func fits(patterns []string, dir string) bool {
	is := false
	for _, p := range patterns {
		p, not := strings.CutPrefix(strings.TrimSpace(p), "!")
		p = strings.TrimSuffix(strings.TrimPrefix(p, "./"), "/")
		if ok, err := doublestar.Match(p, dir); err == nil && ok {
			if not {
				return false
			}
			is = true
		}
	}
	return is
}

// member reports whether a directory is a package of the workspace of npm, Yarn,
// bun, pnpm or Lerna that a package is the root of.
func (p project) member(rel string) bool {
	var m struct{ Workspaces json.RawMessage }
	var patterns []string
	if json.Unmarshal([]byte(p.read("package.json")), &m) == nil && len(m.Workspaces) > 0 {
		var named struct{ Packages []string }
		if json.Unmarshal(m.Workspaces, &patterns) != nil && json.Unmarshal(m.Workspaces, &named) == nil {
			patterns = named.Packages
		}
	}
	var listed struct{ Packages []string }
	if yaml.Unmarshal([]byte(p.read("pnpm-workspace.yaml")), &listed) == nil {
		patterns = append(patterns, listed.Packages...)
	}
	listed.Packages = nil
	if json.Unmarshal([]byte(p.read("lerna.json")), &listed) == nil {
		patterns = append(patterns, listed.Packages...)
	}
	return fits(patterns, rel)
}

// crate reports whether the workspace of a crate has one below it. Without a
// workspace it has none; one that is neither in it nor out of it nobody can build.
func (p project) crate(rel string) bool {
	type workspace struct {
		Workspace *struct{ Exclude []string }
	}
	read := func(dir string) (w workspace) {
		inner := p
		inner.dir = path.Join(p.dir, dir)
		_ = toml.Unmarshal([]byte(inner.read("Cargo.toml")), &w) // what cannot be read says nothing
		return w
	}
	root := read(".").Workspace
	return root != nil && read(rel).Workspace == nil && !slices.ContainsFunc(root.Exclude, func(out string) bool {
		out = path.Clean(out)
		return rel == out || strings.HasPrefix(rel, out+"/")
	})
}

// module reports whether Maven builds a directory with the project above it.
func (p project) module(rel string) bool {
	text := regexp.MustCompile(`(?s)<!--.*?-->|<profiles>.*?</profiles>`).ReplaceAllString(p.read("pom.xml"), "")
	for _, m := range regexp.MustCompile(`<module>\s*([^<\s]+)\s*</module>`).FindAllStringSubmatch(text, -1) {
		dir := path.Clean(strings.TrimSuffix(m[1], "/pom.xml"))
		if rel == dir {
			return true
		}
		if below, ok := strings.CutPrefix(rel, dir+"/"); ok {
			inner := p
			inner.dir = path.Join(p.dir, dir)
			if inner.module(below) {
				return true
			}
		}
	}
	return false
}

// included reports whether Gradle tests a directory with the project above it,
// which it does not where it only includes that as a build. Settings are a program: where they do more than to name projects, it does. A
// directory that they do not name can be built only with settings of its own.
func (p project) included(rel string) bool {
	settings := p.read("settings.gradle") + p.read("settings.gradle.kts")
	settings = regexp.MustCompile(`(?s)/\*.*?\*/|(?m)//.*$`).ReplaceAllString(settings, "")
	inner := p
	inner.dir = path.Join(p.dir, rel)
	if !inner.word("file:settings.gradle") && !inner.word("file:settings.gradle.kts") {
		return true
	}
	plain := !regexp.MustCompile(`\b(?:each|for|while|eachDir|fileTree|projectDir|walk)\b`).MatchString(settings)
	named := false
	for _, m := range regexp.MustCompile(`\binclude\b[\s(]*((?:["'][^"'\n]+["'][\s,]*)+)`).FindAllStringSubmatch(settings, -1) {
		for _, q := range regexp.MustCompile(`["']([^"'\n]+)["']`).FindAllStringSubmatch(m[1], -1) {
			dir := path.Clean(strings.ReplaceAll(strings.TrimPrefix(q[1], ":"), ":", "/"))
			named = named || dir == rel || strings.HasPrefix(dir, rel+"/")
		}
	}
	return named || !plain
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

// suite reports whether the tests that PHPUnit runs for a project are also those
// of a directory below it, which its configuration names.
func (p project) suite(rel string) bool {
	text := p.read("phpunit.xml") + p.read("phpunit.xml.dist")
	for _, m := range regexp.MustCompile(`<directory[^>]*>\s*([^<]+?)\s*</directory>`).FindAllStringSubmatch(text, -1) {
		d := path.Clean(m[1])
		if d == "." || d == rel || strings.HasPrefix(d, rel+"/") || strings.HasPrefix(rel, d+"/") || strings.ContainsAny(d, "*?[") {
			return true
		}
	}
	return false
}
