package testselection

import (
	"os"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/gosource"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// chooseGoPackages selects the Go packages whose tests a change affects.
func (s *relatedTestFinder) chooseGoPackages(of gate.QualityGate) RelatedTests {
	c, ok := gosource.ParseGoTestCommand(of.Args)
	if !ok || c.Picks {
		return selectAllTests("its command selects tests itself")
	}
	if s.golang == nil {
		g := gosource.ReadImportGraph(os.DirFS(s.dir))
		s.golang = &g
	}
	hit, total, why := s.golang.AffectedPackages(of.Dir, s.changed, func(file string) bool { return stack.IsUnrelatedStackFile("go", ".go", file, s.allFiles()) })
	switch {
	case why != "":
		return selectAllTests("%s", why)
	case len(hit) == 0:
		return selectNoTests()
	case len(hit) == total:
		return selectAllTests("the change affects all %d packages with tests", total)
	}
	return RelatedTests{Some: true, Tests: hit}
}

// choosePackages selects the packages that a change affects: those that it touches, and those that
// depend on these.
func (s *relatedTestFinder) choosePackages(g gate.QualityGate, l stack.SourceDependencyRules) RelatedTests {
	files := slices.DeleteFunc(slices.Clone(s.allFiles()), func(f string) bool { _, here := pathFromGate(g, f); return !here })
	units := slices.DeleteFunc(l.Units(os.DirFS(s.dir), files), func(u stack.TestPackage) bool { return looksLikeOption(u.Name) })
	hit, why := s.owningPackages(g, l, units)
	if why != "" {
		return selectAllTests("%s", why)
	}
	for i := 0; i < len(hit); i++ {
		for _, u := range units {
			if !slices.Contains(hit, u.Name) && u.Needs(hit[i]) {
				hit = append(hit, u.Name)
			}
		}
	}
	slices.Sort(hit)
	switch {
	case len(hit) == 0:
		return selectNoTests()
	case len(hit) == len(units):
		return selectAllTests("the change affects all %d packages", len(units))
	}
	return RelatedTests{Some: true, Tests: hit}
}

// owningPackages returns the packages of the changed files, or why these cannot be determined.
func (s *relatedTestFinder) owningPackages(g gate.QualityGate, l stack.SourceDependencyRules, units []stack.TestPackage) (hit []string, why string) {
	for _, f := range s.changed {
		if _, here := pathFromGate(g, f); !here || stack.IsProse(f) {
			continue
		}
		owner := ""
		for _, dir := range stack.DirectoriesAbove(f) {
			if i := slices.IndexFunc(units, func(u stack.TestPackage) bool { return u.Dir == dir }); i >= 0 {
				owner = units[i].Name
				break
			}
		}
		if !l.Mine(f) || owner == "" {
			return nil, f + " is not a source file of a package"
		}
		if !slices.Contains(hit, owner) {
			hit = append(hit, owner)
		}
	}
	return hit, ""
}
