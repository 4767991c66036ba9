package read

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/read/lint"
	"github.com/nexus-ai-builder/nexus/internal/stack/read/raw"
)

// isManifest reports whether a name is that of a file that says what a project
// consists of, or how a tool works on it: tools that cannot read one often name it
// in a sentence, and not as the place of an error.
func isManifest(name string) bool {
	base := strings.ToLower(path.Base(name))
	switch base {
	case "cargo.toml", "cargo.lock", "go.mod", "go.sum", "go.work", "gemfile", "gemfile.lock", "rakefile", "makefile", "gnumakefile", "dockerfile", "pipfile", "pipfile.lock",
		"procfile", "podfile", "cmakelists.txt", "meson.build", "build.gradle", "settings.gradle", "gradle.properties", "package.swift", "mix.exs", "build.sbt", "yarn.lock",
		"requirements.txt", "setup.py", "deno.json", "deno.jsonc", "bun.lockb":
		return true
	}
	if strings.HasPrefix(base, ".") && strings.Contains(base, "rc") { // .eslintrc, .babelrc.json, .prettierrc
		return true
	}
	if strings.Contains(base, ".config.") || strings.Contains(base, ".conf.") { // jest.config.js
		return true
	}
	switch path.Ext(base) {
	case ".toml", ".json", ".jsonc", ".json5", ".yaml", ".yml", ".ini", ".cfg", ".xml", ".kts", ".properties", ".neon", ".csproj", ".fsproj", ".vbproj", ".sln", ".props", ".targets", ".gemspec", ".cabal", ".podspec":
		return base != path.Ext(base)
	}
	return false
}

// placeManifest gives findings of a tool that could not work, and that have no
// place, the manifest which they name, with the line as far as it is said.
func placeManifest(in Input, r Report) Report {
	if r.State != nexus.Fail {
		return r
	}
	if len(r.Findings) == 1 && r.Findings[0].Code == codeMake {
		if at, ok := manifestIn(in, raw.Lines(slices.Concat(in.Stdout, []byte("\n"), in.Stderr))); ok { // what make adds names its own file
			at.Code, at.Severity, at.Message = raw.CodeExit, r.Findings[0].Severity, r.Findings[0].Message
			r.Findings[0] = at
		}
		return r
	}
	for i, f := range r.Findings {
		if f.File != "" || f.Test != "" || f.Code == raw.CodeVanished || f.Code == raw.CodeCoverage || f.Code == raw.CodeMore || !raw.Blocks(f) {
			continue
		}
		if at, ok := manifestIn(in, raw.Lines([]byte(f.Message))); ok {
			r.Findings[i].File, r.Findings[i].Line, r.Findings[i].Column = at.File, at.Line, at.Column
		}
	}
	return r
}

// manifestIn returns the first manifest that lines name where they say that
// something is wrong.
func manifestIn(in Input, all []string) (nexus.Finding, bool) {
	named := regexp.MustCompile(`[\w@./~+-]*[\w]`)
	wrong := regexp.MustCompile(`(?i)error|fail|invalid|cannot|can't|could not|unable|unexpected|expected|unknown|unrecogni[sz]ed|not found|missing|malformed|duplicate|pars(?:e|ing)|config(?:uration)? file|not (?:contain )?valid|unsupported`)
	made := regexp.MustCompile(`(?:^|[\s/"'])(?:node_modules|target|build|dist|out|coverage|reports?|\.cache)/|^(?:g?make|ninja)(?:\[\d+\])?: |\bsee:? `) // by a tool, or said of another
	for i, l := range all {
		l = l[:min(len(l), 4096)]
		near := l
		if i > 0 {
			near = all[i-1] + "\n" + near
		}
		if i+1 < len(all) {
			near += "\n" + all[i+1]
		}
		if made.MatchString(l) || !wrong.MatchString(near) {
			continue
		}
		for _, at := range named.FindAllStringIndex(l, -1) {
			name := l[at[0]:at[1]]
			if file := in.Place(name); isManifest(name) && file != "" && !strings.HasSuffix(l[:at[0]], ":/") {
				f := nexus.Finding{File: file}
				f.Line, f.Column = lineIn(l[at[1]:], all[i+1:min(i+5, len(all))])
				return f, true
			}
		}
	}
	return nexus.Finding{}, false
}

// lineIn returns the line and column that are said behind the name of a file, or
// in the next lines.
func lineIn(rest string, next []string) (line, column int) {
	behind := regexp.MustCompile(`^["'\x60)\]]*[:(](\d+)(?:[:,] ?(\d+))?`)
	said := regexp.MustCompile(`(?i)\bline:? (\d+)(?:(?:,? (?:and )?col(?:umn)?:? |:)(\d+))?`)
	if m := behind.FindStringSubmatch(rest); m != nil {
		return raw.Number(m[1]), raw.Number(m[2])
	}
	for _, l := range append([]string{rest}, next...) {
		if all := said.FindAllStringSubmatch(l[:min(len(l), 4096)], -1); len(all) > 0 {
			m := all[len(all)-1] // of Maven: "from line 5 (...) @ line 7, column 5"
			return raw.Number(m[1]), raw.Number(m[2])
		}
	}
	return 0, 0
}

// unreadable returns what is said of a manifest that a tool cannot read, where that
// looks like the place of something else.
func unreadable(in Input, all []string) []nexus.Finding {
	pom := regexp.MustCompile(`^\[(?:ERROR|FATAL)\] ((?:Non-parseable|Malformed) POM \S+?:? .*?)(?: -> \[Help \d+\])?$`)
	composer := regexp.MustCompile(`^\s*"(?:\./)?(\S*composer\.\w+)" does not contain valid JSON`)
	for i, l := range all {
		l = l[:min(len(l), 4096)]
		if m := pom.FindStringSubmatch(l); m != nil {
			if f, ok := manifestIn(in, []string{l}); ok {
				f.Message = m[1]
				return []nexus.Finding{f}
			}
		} else if m := composer.FindStringSubmatch(l); m != nil {
			f := nexus.Finding{File: in.Place(m[1]), Message: strings.TrimSpace(strings.Join(all[i:min(i+3, len(all))], "\n"))}
			f.Line, f.Column = lineIn("", all[i:min(i+4, len(all))])
			return []nexus.Finding{f}
		}
	}
	maven := lint.MavenGoals(in, all)
	return slices.DeleteFunc(maven, func(f nexus.Finding) bool { return f.File == "" })
}
