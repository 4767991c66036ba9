package gate

import (
	"os"
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/gosrc"
)

// FixedTests returns the tests that a gate found red in one tree and not in
// another, sorted. Before is what it said about the base with the tests of now, and
// now what it says about the tree at is, both as they are and not against
// anything. Was is the directory of the base, and changed are the files that
// differ.
//
// Where a package of Go does not compile, its own sources tell which of its
// tests are other ones than before. Of other tools, a file that does not load
// stands for its tests.
func FixedTests(before, now nexus.Evidence, was, is string, changed []string) []string {
	if now.State != nexus.Pass && now.State != nexus.Fail {
		return nil
	}
	red := redTests(now)
	var found []string
	add := func(name string) {
		if name != "" && !red[name] && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	mods := gosrc.Modules(os.DirFS(is))
	var whole []string // packages that did not run
	for _, f := range before.Findings {
		_, _, test := gosrc.TestName(f.Test)
		dir, here := gosrc.PackageDir(f.Test, mods)
		switch {
		case f.Test != "" && !test && here && hasGo(is): // what is said about a whole package
			whole = append(whole, dir)
		case strings.HasSuffix(f.File, "_test.go") && f.Test == "":
			whole = append(whole, path.Dir(f.File))
		case f.Test != "":
			add(f.Test)
		case slices.Contains(changed, f.File) && !strings.HasSuffix(f.File, ".go"):
			if !mentions(now, f.File) {
				add(f.File)
			}
		}
	}
	slices.Sort(whole)
	for _, dir := range slices.Compact(whole) {
		pkg := gosrc.ImportPath(dir, mods)
		if red[pkg] {
			continue
		}
		for _, name := range gosrc.ExpectedTests(os.DirFS(is), mods)(pkg) {
			if gosrc.IsTestChanged(os.DirFS(was), os.DirFS(is), dir, name) {
				add(pkg + "." + name)
			}
		}
	}
	slices.Sort(found)
	return topTests(found)
}

// redTests are the tests, and whole packages, that a gate has something to say about.
func redTests(e nexus.Evidence) map[string]bool {
	all := map[string]bool{}
	for _, f := range e.Findings {
		all[f.Test] = true
	}
	return all
}

// mentions reports whether a gate still has something against a file.
func mentions(e nexus.Evidence, file string) bool {
	return slices.ContainsFunc(e.Findings, func(f nexus.Finding) bool { return f.File == file })
}

func hasGo(dir string) bool { return len(gosrc.Modules(os.DirFS(dir))) > 0 }

// topTests drops a test of Go where one of its subtests says it more closely.
func topTests(all []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(name string) bool {
		return slices.ContainsFunc(all, func(sub string) bool { return strings.HasPrefix(sub, name+"/") })
	})
}
