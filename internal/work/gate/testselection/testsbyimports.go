package testselection

import (
	"maps"
	"os"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// chooseTestFilesByImports finds the test files that depend on a changed file.
func (s *relatedTestFinder) chooseTestFilesByImports(g gate.QualityGate, l stack.SourceDependencyRules) RelatedTests {
	if l.Chooses != nil {
		if why := l.Chooses(os.DirFS(s.dir), s.allFiles()); why != "" {
			return selectAllTests("%s", why)
		}
	}
	have := map[string]bool{}
	for _, f := range s.allFiles() {
		if l.Mine(f) {
			have[f] = true
		}
	}
	hit, why := s.changedSources(g, l)
	switch {
	case why != "":
		return selectAllTests("%s", why)
	case len(hit) == 0:
		return selectNoTests()
	}
	addDependents(l.Uses(os.DirFS(s.dir), have), have, hit)
	var tests []string
	total := 0
	for f := range have {
		at, here := pathFromGate(g, f)
		if !here || !l.Test(f) {
			continue
		}
		total++
		if hit[f] && !looksLikeOption(at) {
			tests = append(tests, at)
		}
	}
	slices.Sort(tests)
	switch {
	case len(tests) == 0:
		return selectNoTests()
	case len(tests) == total:
		return selectAllTests("the change affects all %d test files", total)
	case len(tests) > mostTests:
		return selectAllTests("the change affects %d test files", len(tests))
	}
	return RelatedTests{Some: true, Tests: tests}
}

// changedSources returns the changed files of a language, or why their tests cannot be determined.
func (s *relatedTestFinder) changedSources(g gate.QualityGate, l stack.SourceDependencyRules) (hit map[string]bool, why string) {
	hit = map[string]bool{}
	for _, f := range s.changed {
		_, here := pathFromGate(g, f)
		switch {
		case stack.IsProse(f) || !here && !l.Mine(f):
			continue
		case !l.Mine(f):
			return nil, f + " is not a source file"
		case !s.fileExists(f) && !l.Test(f):
			return nil, f + " is gone"
		case s.fileExists(f):
			hit[f] = true
		}
	}
	return hit, ""
}

// addDependents adds to the changed files those that depend on them.
func addDependents(uses func(file string) (files []string, sure bool), have, hit map[string]bool) {
	users := map[string][]string{}
	for f := range have {
		needs, sure := uses(f)
		if !sure {
			hit[f] = true // it may depend on anything
		}
		for _, u := range needs {
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
