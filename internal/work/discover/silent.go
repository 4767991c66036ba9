package discover

import (
	"context"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/finding"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// manyFiles is how many source files a directory may have that nothing describes (the predecessor's figure).
const manyFiles = 2

// introduces is how a language describes what a directory holds within a file of it. A line that is like text says it,
// where the one below is like below. Both are patterns for Go and for awk.
type introduces struct{ ends, files, text, below string }

func introducing() []introduces {
	return []introduces{
		{".go", "*.go", `^// |[*]/$`, `^package `},
		{".rs", "*.rs", `^//!|^/[*]!`, `^`},
		{".py", "__init__.py", `^[rRuU]?"`, `^`},
		{".java", "package-info.java", `^/[*][*]`, `^`},
	}
}

// folder is what is known of a directory.
type folder struct {
	sources int
	told    bool            // something says what it holds
	ends    map[string]bool // of the names of its source files
}

// silent finds directories below the root with more than two source files where no README, and no file, says what they
// hold.
func (s *Site) silent(ctx context.Context) ([]finding.Finding, error) {
	all := map[string]*folder{}
	var dirs []string
	for _, f := range s.files {
		dir, base := path.Dir(f.path), path.Base(f.path)
		if dir == "." || unseen(dir) {
			continue
		}
		if all[dir] == nil {
			all[dir] = &folder{ends: map[string]bool{}}
			dirs = append(dirs, dir)
		}
		d := all[dir]
		d.told = d.told || strings.HasPrefix(strings.ToLower(base), "readme")
		if _, ok := stack.SyntaxOf(base); !ok || extra(f.path) || !plain(f.path) {
			continue
		}
		lines, err := s.lines(ctx, f.path)
		if err != nil {
			return nil, err
		}
		if strings.Join(lines, "") != "" {
			d.sources++
			d.ends[path.Ext(base)] = true
			d.told = d.told || introduced(base, lines)
		}
	}
	var found []finding.Finding
	for _, dir := range dirs {
		if d := all[dir]; d.sources > manyFiles && !d.told {
			found = append(found, d.unsaid(dir))
		}
	}
	return found, nil
}

// unseen reports whether a directory is one that tools have for themselves.
func unseen(dir string) bool {
	return slices.ContainsFunc(strings.Split(dir, "/"), func(part string) bool { return strings.HasPrefix(part, ".") })
}

// introduced reports whether a file says what its directory holds.
func introduced(base string, lines []string) bool {
	for _, i := range introducing() {
		if ok, err := path.Match(i.files, base); err != nil || !ok {
			continue
		}
		text, below := regexp.MustCompile(i.text), regexp.MustCompile(i.below)
		for n := range lines[:max(len(lines)-1, 0)] {
			if text.MatchString(lines[n]) && below.MatchString(lines[n+1]) {
				return true
			}
		}
	}
	return false
}

// unsaid makes a finding of a directory of that name.
func (d folder) unsaid(dir string) finding.Finding {
	says := "ls | grep -qi ^readme"
	for _, i := range introducing() {
		if d.ends[i.ends] {
			says += fmt.Sprintf(" || cat %s | awk %s", i.files,
				quote(fmt.Sprintf("b~/%s/&&/%s/{x=1} {b=$0} END{exit !x}", slashes(i.text), slashes(i.below))))
		}
	}
	return finding.Finding{
		ID: finding.ID("documentation", dir, "README"), Strategy: "documentation", Kind: finding.Docs, Severity: nexus.PriorityTrivial,
		Title: fmt.Sprintf("Write a README.md in %s: what is in it", dir), Minutes: 10, Count: d.sources,
		Why:    fmt.Sprintf("it has %d source files, and nothing says what they are for", d.sources),
		Places: []finding.Place{{File: path.Join(dir, "README.md")}},
		Check:  fmt.Sprintf("cd %s && { %s; }", quote("./"+dir), says),
	}
}
