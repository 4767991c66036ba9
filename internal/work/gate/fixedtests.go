package gate

import (
	"os"
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/gosource"
)

// FixedTests returns the tests that are red in one tree and not in another, sorted. Before is
// the gate's result on the base with the tests of now, and now is its result on the tree at
// is, both without a comparison. Was is the directory of the base, and changed are the files
// that differ.
//
// If a Go package does not compile, its sources show which of its tests changed. For other
// tools, a file that does not load stands for its tests.
func FixedTests(before, now nexus.GateEvidence, was, is string, changed []string) []string {
	if now.State != nexus.Pass && now.State != nexus.Fail {
		return nil
	}
	red := failedTests(now)
	var found []string
	add := func(name string) {
		if name != "" && !red[name] && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	mods := gosource.GoModules(os.DirFS(is))
	var whole []string // packages that did not run
	for _, f := range before.Findings {
		_, _, test := gosource.SplitTestName(f.Test)
		dir, here := gosource.PackageDir(f.Test, mods)
		switch {
		case f.Test != "" && !test && here && hasGoModules(is): // a finding about a whole package
			whole = append(whole, dir)
		case strings.HasSuffix(f.File, "_test.go") && f.Test == "":
			whole = append(whole, path.Dir(f.File))
		case f.Test != "":
			add(f.Test)
		case slices.Contains(changed, f.File) && !strings.HasSuffix(f.File, ".go"):
			if !hasFindingIn(now, f.File) {
				add(f.File)
			}
		}
	}
	slices.Sort(whole)
	for _, dir := range slices.Compact(whole) {
		pkg := gosource.ImportPath(dir, mods)
		if red[pkg] {
			continue
		}
		for _, name := range gosource.ExpectedTests(os.DirFS(is), mods)(pkg) {
			if gosource.IsTestChanged(os.DirFS(was), os.DirFS(is), dir, name) {
				add(pkg + "." + name)
			}
		}
	}
	slices.Sort(found)
	return mostSpecificTests(found)
}

// failedTests returns the tests, and whole packages, in a gate's findings.
func failedTests(e nexus.GateEvidence) map[string]bool {
	all := map[string]bool{}
	for _, f := range e.Findings {
		all[f.Test] = true
	}
	return all
}

// hasFindingIn reports whether a gate still has a finding in a file.
func hasFindingIn(e nexus.GateEvidence, file string) bool {
	return slices.ContainsFunc(e.Findings, func(f nexus.Finding) bool { return f.File == file })
}

func hasGoModules(dir string) bool { return len(gosource.GoModules(os.DirFS(dir))) > 0 }

// mostSpecificTests drops a Go test if one of its subtests is more specific.
func mostSpecificTests(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(name string) bool {
		return slices.ContainsFunc(all, func(sub string) bool { return strings.HasPrefix(sub, name+"/") })
	})
}
