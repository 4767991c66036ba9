// Package testselection selects the tests that a change affects, so that they can run before all
// others. It reads the files of a tree and runs nothing.
//
// The selection is only a first result: tests depend on code in ways that no import shows. So
// a change that cannot be followed affects all tests, and nothing lands without a run of the
// whole suite.
package testselection

import (
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/gosource"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// Name is the gate that runs those tests of the gate "test" that a change affects; that of
// "test-web" is "related-web".
const Name = "related"

// RelatedTests is the selection of a gate's tests for a change.
type RelatedTests struct {
	Of   gate.QualityGate
	Gate gate.QualityGate // the gate that runs them; zero unless Some
	Some bool             // some tests are selected; otherwise all, or none
	None bool             // no known test is affected
	Why  string           // why not some
	// test files, packages or crates, in the runner's notation; empty if the runner selects them
	// itself
	Tests []string
}

// ChooseRelatedTests selects, for each gate that runs tests, the tests that the changed files affect.
// Names are relative to the tree, with slashes; a missing file was deleted.
func ChooseRelatedTests(dir string, changed []string, gates []gate.QualityGate) []RelatedTests {
	var all []RelatedTests
	s := &relatedTestFinder{dir: dir, changed: changed}
	for _, g := range gates {
		if !g.Tests || g.Of != "" || strings.HasPrefix(g.Name, "accept: ") {
			continue
		}
		c := s.chooseTests(g)
		c.Of = g
		if c.Some {
			c.Gate = g
			c.Gate.Name, c.Gate.Of = Name+strings.TrimPrefix(g.Name, "test"), g.Name
			if !g.Related.Reports {
				c.Gate.Reports = nil
			}
			if !strings.HasPrefix(g.Name, "test") {
				c.Gate.Name = Name + "-" + g.Name
			}
			s.setTestCommand(&c)
		}
		all = append(all, c)
	}
	return all
}

// InsertRelatedGates inserts the gates for the affected tests before the first gate that runs all.
func InsertRelatedGates(gates []gate.QualityGate, choices []RelatedTests) []gate.QualityGate {
	var some []gate.QualityGate
	for _, c := range choices {
		if c.Some {
			some = append(some, c.Gate)
		}
	}
	i := slices.IndexFunc(gates, func(g gate.QualityGate) bool { return g.Tests })
	if i < 0 || len(some) == 0 {
		return gates
	}
	return slices.Insert(slices.Clone(gates), i, some...)
}

// relatedTestFinder is a tree with its cached data.
type relatedTestFinder struct {
	dir     string
	changed []string
	files   []string // files of the tree, read on first use
	golang  *gosource.GoImportGraph
}

func (s *relatedTestFinder) allFiles() []string {
	if s.files == nil {
		s.files = stack.SourceFiles(os.DirFS(s.dir))
	}
	return s.files
}

func (s *relatedTestFinder) fileExists(file string) bool {
	return gosource.IsFile(os.DirFS(s.dir), file)
}

// selectAllTests returns the choice of all tests, with the reason.
func selectAllTests(why string, args ...any) RelatedTests {
	return RelatedTests{Why: fmt.Sprintf(why, args...)}
}

// selectNoTests returns the choice for a change that affects no test.
func selectNoTests() RelatedTests {
	return RelatedTests{None: true, Why: "no known test is related to the change"}
}

func (s *relatedTestFinder) chooseTests(g gate.QualityGate) RelatedTests {
	switch {
	case len(s.changed) == 0:
		return selectAllTests("nothing changed")
	case g.Format == outputparser.GoTestJSON:
		return s.chooseGoPackages(g)
	}
	l, ok := stack.SourceRulesOf(g.Related.By)
	switch {
	case !ok:
	case slices.Contains(g.Related.Args, changedFiles):
		return s.letRunnerChooseTests(g, l)
	case l.Units != nil:
		return s.choosePackages(g, l)
	default:
		return s.chooseTestFilesByImports(g, l)
	}
	return selectAllTests("its command cannot run single tests")
}

// setTestCommand sets the command of a choice.
func (s *relatedTestFinder) setTestCommand(c *RelatedTests) {
	if c.Of.Format == outputparser.GoTestJSON {
		test, _ := gosource.ParseGoTestCommand(c.Of.Args)
		c.Gate.Args = test.CommandFor(c.Tests, nil)
		return
	}
	part := c.Of.Related
	l, _ := stack.SourceRulesOf(part.By)
	c.Gate.Format = part.Format
	c.Gate.Args = nil
	for _, word := range part.Args {
		if l.Words != nil {
			if words, ok := l.Words(os.DirFS(s.dir), c.Of.Dir, word, c.Tests); ok {
				c.Gate.Args = append(c.Gate.Args, words...)
				continue
			}
		}
		if word == changedFiles || word == "{tests}" {
			c.Gate.Args = append(c.Gate.Args, c.Tests...)
		} else {
			c.Gate.Args = append(c.Gate.Args, word)
		}
	}
	if slices.Contains(part.Args, changedFiles) {
		c.Tests = nil
	}
}

// changedFiles stands for the changed files in the command of a runner that selects their
// tests itself.
const changedFiles = "{changed}"

// pathFromGate returns a file relative to a gate's directory; ok is false if it is outside.
func pathFromGate(g gate.QualityGate, file string) (string, bool) {
	if g.Dir == "" || g.Dir == "." {
		return file, true
	}
	return strings.CutPrefix(file, path.Clean(g.Dir)+"/")
}

// looksLikeOption reports whether a command would parse a name as an option.
func looksLikeOption(file string) bool { return strings.HasPrefix(file, "-") }

// mostTests limits the arguments of one command; above it, all tests run.
const mostTests = 500

// letRunnerChooseTests passes the changed files to a runner that selects their tests.
func (s *relatedTestFinder) letRunnerChooseTests(g gate.QualityGate, l stack.SourceDependencyRules) RelatedTests {
	var files []string
	for _, f := range s.changed {
		at, here := pathFromGate(g, f)
		switch {
		case stack.IsProse(f) || !here && !l.Mine(f):
			continue
		case !here || !l.Mine(f):
			return selectAllTests("%s is not a module that its tests import", f)
		case !s.fileExists(f):
			return selectAllTests("%s is gone", f)
		case looksLikeOption(at):
			return selectAllTests("%s looks like an option", f)
		}
		files = append(files, at)
	}
	switch {
	case len(files) == 0:
		return selectNoTests()
	case len(files) > mostTests:
		return selectAllTests("%d files changed", len(files))
	}
	return RelatedTests{Some: true, Tests: files}
}
