package measure

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/bounds"
)

// reader returns what reads the dependencies that a file names, nil for a file
// that names none.
func reader(base string) func(string) []bounds.Dependency {
	switch base {
	case "go.mod":
		return modules
	case "package-lock.json", "npm-shrinkwrap.json":
		return packages
	case "Cargo.lock", "uv.lock", "poetry.lock", "pdm.lock":
		return tables
	case "requirements.txt":
		return requirements
	}
	return nil
}

// bare takes the version off a dependency's name.
func bare(name string) string {
	if i := strings.LastIndexByte(name, '@'); i > 0 {
		return name[:i]
	}
	return name
}

// modules reads the requirements of a go.mod.
func modules(text string) []bounds.Dependency {
	row := regexp.MustCompile(`^\s*(?:require\s+)?([\w.~-]+\.[\w.~-]+(?:/[\w.~-]+)*)\s+(v\d\S*)`)
	var all []bounds.Dependency
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
			all = append(all, bounds.Dependency{Name: m[1] + "@" + m[2], Line: n})
		}
	}
	return all
}

// packages reads the lock file of npm, which names licences.
func packages(text string) []bounds.Dependency {
	var lock struct {
		Packages map[string]struct {
			Version string `json:"version"`
			License any    `json:"license"`
			Link    bool   `json:"link"`
		} `json:"packages"`
	}
	if json.Unmarshal([]byte(text), &lock) != nil {
		return nil
	}
	var all []bounds.Dependency
	for at, p := range lock.Packages {
		i := strings.LastIndex(at, "node_modules/")
		if i < 0 || p.Link {
			continue
		}
		licence, _ := p.License.(string)
		all = append(all, bounds.Dependency{Name: at[i+len("node_modules/"):] + "@" + p.Version, Licence: licence})
	}
	slices.SortFunc(all, func(a, b bounds.Dependency) int { return strings.Compare(a.Name, b.Name) })
	return slices.CompactFunc(all, func(a, b bounds.Dependency) bool { return a.Name == b.Name })
}

// tables reads lock files with a table for each package.
func tables(text string) []bounds.Dependency {
	var all []bounds.Dependency
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
			all = append(all, bounds.Dependency{Name: name + "@" + value, Line: n - 1})
		}
	}
	return all
}

// requirements reads a requirements.txt.
func requirements(text string) []bounds.Dependency {
	row := regexp.MustCompile(`^([A-Za-z0-9][\w.-]*)(?:\[[^]]*\])?\s*(?:[=~<>!]=?=?\s*([\w.*+!-]+))?`)
	var all []bounds.Dependency
	n := 0
	for line := range strings.Lines(text) {
		n++
		if m := row.FindStringSubmatch(line); m != nil {
			all = append(all, bounds.Dependency{Name: strings.ToLower(m[1]) + "@" + m[2], Line: n})
		}
	}
	return all
}

// module returns the licence of a Go module in the module cache, empty where
// it is not there or not one that is known.
func (m *Meter) module(name string) string {
	if m.Modules == "" {
		return ""
	}
	at, version, _ := strings.Cut(name, "@")
	dir := filepath.Join(m.Modules, filepath.FromSlash(escaped(at))+"@"+escaped(version))
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		base := strings.ToLower(e.Name())
		if !e.Type().IsRegular() || !strings.HasPrefix(base, "licen") && !strings.HasPrefix(base, "copying") && !strings.HasPrefix(base, "unlicen") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			continue
		}
		if l := Licence(string(data)); l != "" {
			return l
		}
	}
	return ""
}

// escaped writes a path as the module cache does: a capital is its small
// letter behind an exclamation mark.
func escaped(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('!')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Licence returns the SPDX name of a licence by its text, empty for one that is
// not known.
func Licence(text string) string {
	text = strings.Join(strings.Fields(strings.ToLower(text)), " ")
	has := func(parts ...string) bool {
		for _, p := range parts {
			if !strings.Contains(text, p) {
				return false
			}
		}
		return true
	}
	binary := has("redistribution and use in source and binary forms")
	for _, l := range []struct {
		name string
		is   bool
	}{
		{"AGPL-3.0", has("gnu affero general public license", "version 3")},
		{"LGPL-3.0", has("gnu lesser general public license", "version 3")},
		{"LGPL-2.1", has("gnu lesser general public license", "version 2.1")},
		{"MPL-2.0", has("mozilla public license", "version 2.0")},
		{"GPL-3.0", has("gnu general public license", "version 3")},
		{"GPL-2.0", has("gnu general public license", "version 2")},
		{"EPL-2.0", has("eclipse public license", "2.0")},
		{"Apache-2.0", has("apache license", "version 2.0")},
		{"BSD-3-Clause", binary && (has("neither the name") || has("may be used to endorse or promote"))},
		{"BSD-2-Clause", binary},
		{"0BSD", has("permission to use, copy, modify, and/or distribute this software for any purpose with or without fee is hereby granted.") && !has("provided that")},
		{"ISC", has("permission to use, copy, modify, and") && has("distribute this software for any purpose with or without fee", "provided that")},
		{"MIT", has("permission is hereby granted, free of charge, to any person obtaining a copy", "substantial portions of the software")},
		{"Unlicense", has("this is free and unencumbered software released into the public domain")},
		{"CC0-1.0", has("cc0 1.0 universal")},
		{"Zlib", has("the origin of this software must not be misrepresented", "altered source versions must be plainly marked")},
	} {
		if l.is {
			return l.name
		}
	}
	return ""
}
