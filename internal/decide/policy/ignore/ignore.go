// Package ignore decides which paths ignore files exclude, in git's pattern language. A
// .nexusignore hides its paths from agents.
package ignore

import (
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/pathkind"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// File is the name of the files whose paths are hidden from agents.
const File = ".nexusignore"

// IgnorePattern is one line of an ignore file.
type IgnorePattern struct {
	base    string // directory of its file, "" for the root
	pattern string
	dirs    bool // directories only
	keep    bool // "!": a matching path is not ignored after all
}

// ParseIgnoreFile returns the rules of an ignore file in a directory, "" or "." for the root, and an
// error that names the invalid lines.
func ParseIgnoreFile(base, text string) ([]IgnorePattern, error) {
	if base == "." {
		base = ""
	}
	var rules []IgnorePattern
	var wrong []error
	n := 0
	for p := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		n++
		p = strings.TrimSuffix(strings.TrimSuffix(p, "\n"), "\r")
		if !strings.HasSuffix(p, `\ `) {
			p = strings.TrimRight(p, " ")
		}
		if p == "" || p[0] == '#' {
			continue
		}
		line := p
		ru := IgnorePattern{base: base}
		p, ru.keep = strings.CutPrefix(p, "!")
		p, ru.dirs = strings.CutSuffix(p, "/")
		anchored := strings.Contains(p, "/")
		p = strings.TrimPrefix(p, "/")
		if p == "" {
			continue
		}
		if !anchored {
			p = "**/" + p
		}
		var err error
		if ru.pattern, err = translatePattern(p); err != nil {
			wrong = append(wrong, fmt.Errorf("line %d, %.80q: %w", n, line, err))
			continue
		}
		if strings.HasSuffix(ru.pattern, "/**") {
			ru.pattern += "/*" // its content, but not itself
		}
		rules = append(rules, ru)
	}
	return rules, errors.Join(wrong...)
}

// IgnoreAll returns the rule that excludes all files of a directory, for a directory whose
// file cannot be read.
func IgnoreAll(base string) IgnorePattern {
	if base == "." {
		base = ""
	}
	return IgnorePattern{base: base, pattern: "**"}
}

// matchesPath reports whether the rule matches a path.
func (r IgnorePattern) matchesPath(name string, dir bool) bool {
	if r.dirs && !dir {
		return false
	}
	if r.base != "" {
		rest, ok := strings.CutPrefix(name, r.base+"/")
		if !ok {
			return false
		}
		name = rest
	}
	ok, _ := doublestar.Match(r.pattern, name)
	return ok
}

// IsIgnored reports whether rules exclude a path by its own name. Files in an excluded
// directory are excluded too; see [IgnoreSet.IsIgnored]. A line with "!" does not include a file whose
// name suggests secrets: agents may not read it, so its name would be shown for nothing.
func IsIgnored(rules []IgnorePattern, name string, dir bool) bool {
	secret := !dir && pathkind.ProtectionOf(name, false) == pathkind.MaySecret
	for _, r := range slices.Backward(rules) {
		if r.keep && secret {
			continue
		}
		if r.matchesPath(name, dir) {
			return !r.keep
		}
	}
	return false
}

// IgnoreSet is the content of the ignore files of a tree. The zero Set excludes nothing.
type IgnoreSet struct{ rules map[string][]IgnorePattern }

// NewIgnoreSet returns the Set of ignore files, given by path. An invalid line is an error, and the
// file's whole directory is excluded.
func NewIgnoreSet(texts map[string]string) (IgnoreSet, error) {
	s := IgnoreSet{rules: map[string][]IgnorePattern{}}
	var wrong []error
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		dir := path.Dir(name)
		rules, err := ParseIgnoreFile(dir, texts[name])
		if err != nil {
			rules = append(rules, IgnoreAll(dir))
			wrong = append(wrong, fmt.Errorf("%s: %w", name, err))
		}
		if len(rules) > 0 {
			s.rules[dir] = rules
		}
	}
	if len(wrong) == 0 {
		return s, nil
	}
	return s, &nexus.Error{
		Code: nexus.CodeInvalidConfig, Message: "read what is hidden from agents", Cause: errors.Join(wrong...),
		Hint: "Correct the lines and commit them. A line is a pattern as in a .gitignore.",
	}
}

// IsEmpty reports whether nothing is excluded.
func (s IgnoreSet) IsEmpty() bool { return len(s.rules) == 0 }

// RulesIn returns the rules of the file in a directory, "." for the root.
func (s IgnoreSet) RulesIn(dir string) []IgnorePattern { return s.rules[dir] }

// IsIgnored reports whether a file is excluded, directly or by a directory above it.
func (s IgnoreSet) IsIgnored(file string) bool {
	if s.IsEmpty() {
		return false
	}
	file = path.Clean(file)
	all := s.rules["."]
	for i := 0; i <= len(file); i++ {
		switch {
		case i == len(file):
			return IsIgnored(all, file, false)
		case file[i] != '/':
		case IsIgnored(all, file[:i], true):
			return true
		default:
			all = append(slices.Clip(all), s.rules[file[:i]]...)
		}
	}
	return false
}
