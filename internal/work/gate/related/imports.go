package related

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// language knows how the files of a language name each other.
type language interface {
	mine(file string) bool // it is a source file
	test(file string) bool // the runner takes it for tests
	// uses returns the files of the tree that a file may need, and false where
	// that cannot be told.
	uses(file string, have map[string]bool) (files []string, sure bool)
}

// byImports finds the test files that depend on a changed file.
func (s *survey) byImports(g gate.Gate, l language) Choice {
	have := map[string]bool{}
	for _, f := range s.all() {
		if l.mine(f) {
			have[f] = true
		}
	}
	hit, why := s.changes(g, l)
	switch {
	case why != "":
		return every("%s", why)
	case len(hit) == 0:
		return none()
	}
	follow(l, have, hit)
	var tests []string
	total := 0
	for f := range have {
		at, here := local(g, f)
		if !here || !l.test(f) {
			continue
		}
		total++
		if hit[f] && !option(at) {
			tests = append(tests, at)
		}
	}
	slices.Sort(tests)
	switch {
	case len(tests) == 0:
		return none()
	case len(tests) == total:
		return every("the change affects all %d test files", total)
	case len(tests) > mostTests:
		return every("the change affects %d test files", len(tests))
	}
	return Choice{Some: true, Tests: tests}
}

// changes returns the changed files of a language, or why their tests cannot
// be told.
func (s *survey) changes(g gate.Gate, l language) (hit map[string]bool, why string) {
	hit = map[string]bool{}
	for _, f := range s.changed {
		_, here := local(g, f)
		switch {
		case idle(f) || !here && !l.mine(f):
			continue
		case !l.mine(f):
			return nil, f + " is not a source file"
		case !s.there(f) && !l.test(f):
			return nil, f + " is gone"
		case s.there(f):
			hit[f] = true
		}
	}
	return hit, ""
}

// follow adds to the files that changed those that need them.
func follow(l language, have, hit map[string]bool) {
	users := map[string][]string{}
	for f := range have {
		uses, sure := l.uses(f, have)
		if !sure {
			hit[f] = true // it may need anything
		}
		for _, u := range uses {
			users[u] = append(users[u], f)
		}
	}
	left := slices.Sorted(maps.Keys(hit))
	for len(left) > 0 {
		f := left[0]
		left = left[1:]
		for _, u := range users[f] {
			if !hit[u] {
				hit[u] = true
				left = append(left, u)
			}
		}
	}
}

// first returns the first of some names that is there.
func first(have map[string]bool, names ...string) (string, bool) {
	for _, n := range names {
		if have[n] {
			return n, true
		}
	}
	return "", false
}

// above returns the directories of a file, the root last.
func above(file string) []string {
	var dirs []string
	for dir := path.Dir(file); ; dir = path.Dir(dir) {
		dirs = append(dirs, dir)
		if dir == "." || dir == "/" || strings.HasPrefix(dir, "..") {
			return dirs
		}
	}
}
