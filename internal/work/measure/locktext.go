package measure

import (
	"regexp"
	"strings"
)

// goModules reads the requirements of a go.mod.
func goModules(text string) []Package {
	row := regexp.MustCompile(`^\s*(?:require\s+)?([\w.~-]+\.[\w.~-]+(?:/[\w.~-]+)*)\s+(v\d\S*)`)
	var all []Package
	in := ""
	n := 0
	for line := range strings.Lines(text) {
		n++
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch {
		case strings.TrimSpace(rest) == "(":
			in = word
			continue
		case word == ")":
			in = ""
			continue
		}
		if m := row.FindStringSubmatch(line); m != nil && (in == "require" || word == "require") {
			all = append(all, Package{Kind: GoKind, Name: m[1], Version: m[2], Line: n})
		}
	}
	return all
}

// lockRows reads files that name a package in a line of its own, by a pattern for
// its name and its version.
func lockRows(kind, text, pattern string) []Package {
	row := regexp.MustCompile(pattern)
	var all []Package
	n := 0
	for line := range strings.Lines(text) {
		n++
		if m := row.FindStringSubmatch(strings.TrimRight(line, "\r\n")); m != nil {
			all = append(all, Package{Kind: kind, Name: m[1], Version: m[2], Line: n})
		}
	}
	return sortedPackages(all)
}

// pnpm reads the keys of packages: /name@1.0.0: or name@1.0.0(peer@2.0.0):,
// and /name/1.0.0: in old files.
func pnpm(text string) []Package {
	return lockRows(NodeKind, text, `^  '?/?((?:@[\w.~-]+/)?[\w.~-]+)[@/](\d[\w.+-]*)(?:\(.*\)|_.*)?'?:\s*$`)
}

// bun reads the rows of packages: "name": ["name@1.0.0", ...
func bun(text string) []Package {
	return lockRows(NodeKind, text, `^\s+"[^"]+": \["((?:@[\w.~-]+/)?[\w.~-]+)@(\d[\w.+-]*)"`)
}

// gradle reads rows such as org.slf4j:slf4j-api:2.0.9=runtimeClasspath.
func gradle(text string) []Package {
	return lockRows(MavenKind, text, `^([\w.-]+:[\w.-]+):([\w.+-]+)=`)
}

// yarn reads the entries of both of its formats: what is asked for, and below
// it the version that it is.
func yarn(text string) []Package {
	head := regexp.MustCompile(`^"?((?:@[\w.~-]+/)?[\w.~-]+)@.*:\s*$`)
	version := regexp.MustCompile(`^  version:? "?([\w.+-]+)"?\s*$`)
	var all []Package
	n, name, at := 0, "", 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\r\n")
		if m := head.FindStringSubmatch(line); m != nil {
			name, at = m[1], n
		} else if m := version.FindStringSubmatch(line); m != nil && name != "" && m[1] != "0.0.0-use.local" {
			all = append(all, Package{Kind: NodeKind, Name: name, Version: m[1], Line: at})
			name = ""
		}
	}
	return sortedPackages(all)
}

// tomlTables returns what reads lock files with a table for each package.
func tomlTables(kind string) func(string) []Package {
	return func(text string) []Package {
		var all []Package
		n, name, inside := 0, "", false
		for line := range strings.Lines(text) {
			n++
			key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			value = strings.Trim(strings.TrimSpace(value), `"`)
			switch key = strings.TrimSpace(key); {
			case strings.HasPrefix(key, "["):
				name, inside = "", key == "[[package]]"
			case !inside:
			case key == "name":
				name = value
			case key == "version" && name != "":
				all = append(all, Package{Kind: kind, Name: name, Version: value, Line: n - 1})
			}
		}
		return all
	}
}

// requirements reads a requirements.txt.
func requirements(text string) []Package {
	row := regexp.MustCompile(`^([A-Za-z0-9][\w.-]*)(?:\[[^]]*\])?\s*(?:[=~<>!]=?=?\s*([\w.*+!-]+))?`)
	var all []Package
	n := 0
	for line := range strings.Lines(text) {
		n++
		if m := row.FindStringSubmatch(line); m != nil {
			all = append(all, Package{Kind: PythonKind, Name: strings.ToLower(m[1]), Version: m[2], Line: n})
		}
	}
	return all
}

// gems reads what a Gemfile.lock resolves to: rows with four blanks below
// specs.
func gems(text string) []Package {
	row := regexp.MustCompile(`^    ([\w.-]+) \(([\w.]+?)(?:-[\w.-]+)?\)\s*$`)
	var all []Package
	n, specs := 0, false
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\r\n")
		if line == "  specs:" {
			specs = true
		} else if line != "" && !strings.HasPrefix(line, "    ") {
			specs = false
		}
		if m := row.FindStringSubmatch(line); m != nil && specs {
			all = append(all, Package{Kind: RubyKind, Name: m[1], Version: m[2], Line: n})
		}
	}
	return all
}
