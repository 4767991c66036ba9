// Package codemap looks at a repository and says what it is made of.
package codemap

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Stack is what a repository is made of, as far as marker files at its root
// tell. The zero Stack is an unknown one.
type Stack struct {
	Languages     []string          // the main one first
	Commands      map[string]string // by gate: build, lint, test, type; a further language's with its name in front
	TestFramework string            // of the main language; empty is unknown
}

// part is one language of a stack.
type part struct {
	language, framework string
	commands            map[string]string
}

// Detect looks at the marker files of a directory. It runs nothing, writes
// nothing and follows no links.
func Detect(dir string) Stack {
	s := Stack{Commands: map[string]string{}}
	at := place{dir}
	for _, find := range []func(place) (part, bool){
		golang, rust, node, deno, python, java, dotnet, ruby, php, elixir, swift, cmake,
	} {
		p, ok := find(at)
		if !ok {
			continue
		}
		prefix := ""
		if len(s.Languages) > 0 {
			prefix = strings.NewReplacer("#", "sharp", "+", "p").Replace(strings.ToLower(p.language)) + "-" // a gate's name
		} else {
			s.TestFramework = p.framework
		}
		s.Languages = append(s.Languages, p.language)
		for gate, command := range p.commands {
			if command != "" {
				s.Commands[prefix+gate] = command
			}
		}
	}
	for gate, command := range targets(at) {
		if _, have := s.Commands[gate]; !have {
			s.Commands[gate] = command
		}
	}
	return s
}

// place is a directory whose content nobody vouches for.
type place struct{ dir string }

// has returns the first of the names that is a regular file, or "".
func (p place) has(names ...string) string {
	i := slices.IndexFunc(names, func(n string) bool {
		info, err := os.Lstat(filepath.Join(p.dir, n))
		return err == nil && info.Mode().IsRegular()
	})
	if i < 0 {
		return ""
	}
	return names[i]
}

func (p place) isDir(name string) bool {
	info, err := os.Lstat(filepath.Join(p.dir, name))
	return err == nil && info.IsDir()
}

// any returns the first file with one of the endings.
func (p place) any(endings ...string) string {
	entries, err := os.ReadDir(p.dir)
	if err != nil {
		return ""
	}
	i := slices.IndexFunc(entries, func(e os.DirEntry) bool {
		return e.Type().IsRegular() && slices.Contains(endings, filepath.Ext(e.Name()))
	})
	if i < 0 {
		return ""
	}
	return entries[i].Name()
}

// text returns what is in a file of a sensible size.
func (p place) text(name string) string {
	info, err := os.Lstat(filepath.Join(p.dir, name))
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return ""
	}
	data, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		return ""
	}
	return string(data)
}

// mentions reports whether one of the files holds the text.
func (p place) mentions(text string, names ...string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return strings.Contains(p.text(n), text) })
}

// targets returns the gates that a Makefile or justfile offers.
func targets(p place) map[string]string {
	found := map[string]string{}
	for tool, name := range map[string]string{"make": p.has("GNUmakefile", "makefile", "Makefile"), "just": p.has("justfile", "Justfile")} {
		if name == "" {
			continue
		}
		for line := range strings.Lines(p.text(name)) {
			target, rest, ok := strings.Cut(line, ":")
			if !ok || strings.HasPrefix(rest, "=") || strings.HasPrefix(line, "\t") || strings.HasPrefix(line, "#") {
				continue
			}
			for t := range strings.FieldsSeq(target) {
				if _, taken := found[t]; slices.Contains([]string{"build", "lint", "test"}, t) && (!taken || tool == "make") {
					found[t] = tool + " " + t
				}
			}
		}
	}
	return found
}

func golang(p place) (part, bool) {
	return part{"Go", "go test", map[string]string{
		"build": "go build ./...", "lint": "go vet ./...", "test": "go test ./...",
	}}, p.has("go.mod", "go.work") != ""
}

func rust(p place) (part, bool) {
	return part{"Rust", "cargo test", map[string]string{
		"build": "cargo build --all-targets", "lint": "cargo clippy --all-targets -- -D warnings", "test": "cargo test",
	}}, p.has("Cargo.toml") != ""
}

// manifest is what we read of a package.json.
type manifest struct {
	Scripts         map[string]string `json:"scripts"`
	Dependencies    map[string]string `json:"dependencies"`
	DevDependencies map[string]string `json:"devDependencies"`
}

func node(p place) (part, bool) {
	if p.has("package.json") == "" {
		return part{}, false
	}
	var m manifest
	if err := json.Unmarshal([]byte(p.text("package.json")), &m); err != nil {
		m = manifest{} // still a Node project, with nothing known of it
	}
	n := part{language: "JavaScript", commands: map[string]string{}}
	if p.has("tsconfig.json") != "" {
		n.language = "TypeScript"
	}
	tool := "npm"
	for _, lock := range [][2]string{{"pnpm-lock.yaml", "pnpm"}, {"yarn.lock", "yarn"}, {"bun.lock", "bun"}, {"bun.lockb", "bun"}} {
		if p.has(lock[0]) != "" {
			tool = lock[1]
			break
		}
	}
	for gate, names := range map[string][]string{"build": {"build"}, "lint": {"lint"}, "test": {"test"}, "type": {"typecheck", "type-check", "check-types"}} {
		for _, name := range names {
			if s := m.Scripts[name]; s != "" && !strings.Contains(s, "no test specified") {
				n.commands[gate] = tool + " run " + name
				break
			}
		}
	}
	for _, f := range []string{"vitest", "jest", "mocha", "ava", "jasmine", "@playwright/test"} {
		_, dev := m.DevDependencies[f]
		if _, dep := m.Dependencies[f]; dev || dep {
			n.framework = f
			break
		}
	}
	if n.framework == "" && strings.Contains(m.Scripts["test"], "node --test") {
		n.framework = "node:test"
	}
	return n, true
}

func deno(p place) (part, bool) {
	return part{"Deno", "deno test", map[string]string{
		"build": "deno check .", "lint": "deno lint", "test": "deno test",
	}}, p.has("deno.json", "deno.jsonc") != ""
}

func python(p place) (part, bool) {
	if p.has("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile", "tox.ini") == "" {
		return part{}, false
	}
	run := ""
	switch {
	case p.has("uv.lock") != "":
		run = "uv run "
	case p.has("poetry.lock") != "":
		run = "poetry run "
	}
	py := part{"Python", "unittest", map[string]string{"test": run + "python -m unittest"}}
	if p.has("pytest.ini", "conftest.py", "tests/conftest.py") != "" ||
		p.mentions("pytest", "pyproject.toml", "setup.cfg", "tox.ini", "requirements.txt", "requirements-dev.txt", "Pipfile") {
		py.framework, py.commands["test"] = "pytest", run+"python -m pytest"
	}
	switch {
	case p.has("ruff.toml", ".ruff.toml") != "" || p.mentions("ruff", "pyproject.toml", "requirements-dev.txt"):
		py.commands["lint"] = run + "ruff check ."
	case p.has(".flake8") != "" || p.mentions("flake8", "setup.cfg", "tox.ini"):
		py.commands["lint"] = run + "flake8"
	}
	if p.has("mypy.ini", ".mypy.ini") != "" || p.mentions("mypy", "pyproject.toml", "setup.cfg") {
		py.commands["type"] = run + "mypy ."
	}
	return py, true
}

func java(p place) (part, bool) {
	if p.has("pom.xml") != "" {
		mvn := "mvn -B -o"
		if p.has("mvnw") != "" {
			mvn = "./mvnw -B -o"
		}
		return part{"Java", "maven", map[string]string{"build": mvn + " -DskipTests package", "test": mvn + " test"}}, true
	}
	kotlin := p.has("build.gradle.kts")
	if kotlin == "" && p.has("build.gradle") == "" {
		return part{}, false
	}
	gradle := "gradle --offline"
	if p.has("gradlew") != "" {
		gradle = "./gradlew --offline"
	}
	language := "Java"
	if p.isDir("src/main/kotlin") {
		language = "Kotlin"
	}
	return part{language, "gradle", map[string]string{"build": gradle + " assemble", "test": gradle + " test"}}, true
}

func dotnet(p place) (part, bool) {
	return part{"C#", "dotnet test", map[string]string{
		"build": "dotnet build", "test": "dotnet test",
	}}, p.any(".sln", ".slnx", ".csproj", ".fsproj") != ""
}

func ruby(p place) (part, bool) {
	if p.has("Gemfile", "Rakefile") == "" {
		return part{}, false
	}
	rb := part{"Ruby", "minitest", map[string]string{"test": "bundle exec rake test"}}
	if p.has(".rspec") != "" || p.isDir("spec") {
		rb.framework, rb.commands["test"] = "rspec", "bundle exec rspec"
	}
	if p.has(".rubocop.yml") != "" {
		rb.commands["lint"] = "bundle exec rubocop"
	}
	return rb, true
}

func php(p place) (part, bool) {
	return part{"PHP", "phpunit", map[string]string{"test": "vendor/bin/phpunit"}}, p.has("composer.json") != ""
}

func elixir(p place) (part, bool) {
	return part{"Elixir", "mix test", map[string]string{
		"build": "mix compile --warnings-as-errors", "lint": "mix format --check-formatted", "test": "mix test",
	}}, p.has("mix.exs") != ""
}

func swift(p place) (part, bool) {
	return part{"Swift", "swift test", map[string]string{"build": "swift build", "test": "swift test"}}, p.has("Package.swift") != ""
}

func cmake(p place) (part, bool) {
	return part{"C++", "ctest", map[string]string{
		"build": "cmake -S . -B build && cmake --build build", "test": "ctest --test-dir build --output-on-failure",
	}}, p.has("CMakeLists.txt") != ""
}
