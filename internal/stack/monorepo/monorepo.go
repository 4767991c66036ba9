// Package monorepo finds the packages of a repository and the dependencies between them, so
// that rules, maps, gates and plans can be limited to the packages that a change affects.
//
// It reads files and runs nothing. Its results are used to skip work, so if in doubt it assumes
// a dependency: a package needs another one if its manifest or its code names it, or a path of
// it. A package may need any other one if the names of its language are unknown, or if it loads
// code by a name that is only known when it runs.
package monorepo

import (
	"cmp"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// MonorepoPackage is a directory of a repository with a manifest.
type MonorepoPackage struct {
	Name  string   `json:"name"` // from its manifest, or its directory
	Dir   string   `json:"dir"`  // "." for the root
	Kinds []string `json:"kinds"`
	Needs []string `json:"needs"`          // directories of the packages that it needs directly
	Users []string `json:"dependents"`     // directories of the packages that need it directly
	Wide  string   `json:"wide,omitempty"` // why it may need any other package; empty: it does not

	reaches []string // files and directories outside of it that it names and that no other package contains
}

// PackageProblem is a problem with the packages of a repository that people should know.
type PackageProblem struct {
	Text string `json:"text"`
	Hint string `json:"hint"` // how to fix it
}

// PackageGraph holds the packages of a repository and their dependencies.
type PackageGraph struct {
	Packages []MonorepoPackage // by directory, the root first
	Problems []PackageProblem

	kinds []stackWithNaming
	dirs  map[string]int     // package by its directory
	names []map[string][]int // packages by the names that others use, by the index of the kind
	have  map[string]bool    // files, directories and, for code, files without their endings
}

// stackWithNaming is a stack with its naming rules.
type stackWithNaming struct {
	stack.Stack
	names stack.PackageNaming
}

// Limits for reading a tree.
const (
	mostFiles = 100_000
	mostBytes = 256 << 20
	mostOne   = 1 << 20 // of one file; a larger source file may refer to anything
)

// ReadPackageGraph finds the packages of a tree. The result for a tree without packages is empty.
func ReadPackageGraph(tree fs.FS) *PackageGraph {
	r := &PackageGraph{dirs: map[string]int{}, have: map[string]bool{}}
	for _, s := range stack.AllStacks() {
		k := stackWithNaming{Stack: s}
		if s.Names != nil {
			k.names = s.Names()
		}
		r.kinds = append(r.kinds, k)
	}
	files := r.listFiles(tree)
	r.findPackages(stack.SourceFiles(tree))
	if len(r.Packages) < 2 {
		return r
	}
	r.indexNames(tree)
	w := packageDependencyFinder{PackageGraph: r, tree: tree, needs: make([]map[int]bool, len(r.Packages)), common: map[int]bool{}}
	w.readFiles(files)
	r.resolveNeeds(w.needs)
	r.findProblems(tree)
	return r
}

// findPackages finds the directories that a manifest makes packages. In a language whose names are
// unknown, a directory within a package belongs to that package.
func (r *PackageGraph) findPackages(files []string) {
	within := map[string][]string{}
	for _, f := range files {
		within[path.Dir(f)] = append(within[path.Dir(f)], path.Base(f))
	}
	dirs := make([]string, 0, len(within))
	for dir := range within {
		dirs = append(dirs, dir)
	}
	slices.SortStableFunc(dirs, func(a, b string) int { return cmp.Or(cmp.Compare(rootSortKey(a), rootSortKey(b)), cmp.Compare(a, b)) })
	inside := func(dir, name string) bool {
		for dir != "." {
			dir = path.Dir(dir)
			if i, ok := r.dirs[dir]; ok && slices.Contains(r.Packages[i].Kinds, name) {
				return true
			}
		}
		return false
	}
	for _, dir := range dirs {
		var kinds []string
		for _, k := range r.kinds {
			if k.IsPackage(within[dir]) && (dir == "." || !k.HoldsOnlyDocs(within[dir])) && (k.names.Own != nil || !inside(dir, k.Name)) {
				kinds = append(kinds, k.Name)
			}
		}
		if len(kinds) > 0 {
			r.dirs[dir] = len(r.Packages)
			r.Packages = append(r.Packages, MonorepoPackage{Name: dir, Dir: dir, Kinds: kinds})
		}
	}
}

// rootSortKey sorts the root before all others.
func rootSortKey(dir string) int {
	if dir == "." {
		return 0
	}
	return 1
}

// indexNames records the names that others use for each package.
func (r *PackageGraph) indexNames(tree fs.FS) {
	r.names = make([]map[string][]int, len(r.kinds))
	for n, k := range r.kinds {
		r.names[n] = map[string][]int{}
		if k.names.Own == nil {
			continue
		}
		for i := range r.Packages {
			p := &r.Packages[i]
			if !slices.Contains(p.Kinds, k.Name) {
				continue
			}
			for _, name := range k.names.Own(tree, p.Dir) {
				if p.Name == p.Dir {
					p.Name = name
				}
				if !slices.Contains(r.names[n][name], i) {
					r.names[n][name] = append(r.names[n][name], i)
				}
			}
		}
	}
}

// resolveNeeds converts the collected dependencies to directories.
func (r *PackageGraph) resolveNeeds(needs []map[int]bool) {
	for i := range r.Packages {
		r.Packages[i].Needs, r.Packages[i].Users = []string{}, []string{}
	}
	for i := range r.Packages {
		for to := range r.Packages {
			if needs[i][to] && i != to {
				r.Packages[i].Needs = append(r.Packages[i].Needs, r.Packages[to].Dir)
				r.Packages[to].Users = append(r.Packages[to].Users, r.Packages[i].Dir)
			}
		}
	}
}

// HasNestedPackages reports whether a repository has packages besides its root.
func (r *PackageGraph) HasNestedPackages() bool { return r != nil && len(r.Packages) > 1 }

// PackageOf returns the innermost package that contains a file or a directory, and false if there is
// none.
func (r *PackageGraph) PackageOf(name string) (MonorepoPackage, bool) {
	if r == nil {
		return MonorepoPackage{}, false
	}
	if i, ok := r.packageIndex(name); ok {
		return r.Packages[i], true
	}
	return MonorepoPackage{}, false
}

func (r *PackageGraph) packageIndex(name string) (int, bool) {
	for at := path.Clean(name); ; at = path.Dir(at) {
		if i, ok := r.dirs[at]; ok {
			return i, true
		}
		if at == "." || at == "/" || strings.HasPrefix(at, "..") {
			return 0, false
		}
	}
}

// FindPackage returns the package with a name or a directory. The error lists the existing packages.
func (r *PackageGraph) FindPackage(name string) (MonorepoPackage, error) {
	if r == nil {
		return MonorepoPackage{}, fmt.Errorf("no package is called %q; the repository has no packages", name)
	}
	if i, ok := r.dirs[path.Clean(name)]; ok {
		return r.Packages[i], nil
	}
	var found []MonorepoPackage
	for _, p := range r.Packages {
		if p.Name == name {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return MonorepoPackage{}, fmt.Errorf("no package is called %q; %s", name, r.packagesText())
	}
	return MonorepoPackage{}, fmt.Errorf("%d packages are called %q: %s; name the directory", len(found), name, strings.Join(packageDirs(found), ", "))
}

// mostSaid limits the number of packages that an error names.
const mostSaid = 12

// packagesText lists the packages of a repository.
func (r *PackageGraph) packagesText() string {
	if len(r.Packages) == 0 {
		return "the repository has no packages"
	}
	var names []string
	for _, p := range r.Packages[:min(len(r.Packages), mostSaid)] {
		names = append(names, p.DisplayName())
	}
	text := "there are " + strings.Join(names, ", ")
	if more := len(r.Packages) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// DisplayName returns a package in readable form: its name and its directory.
func (p MonorepoPackage) DisplayName() string {
	if p.Name == p.Dir {
		return p.Dir
	}
	return p.Name + " (" + p.Dir + ")"
}

func packageDirs(all []MonorepoPackage) []string {
	dirs := make([]string, len(all))
	for i, p := range all {
		dirs[i] = p.Dir
	}
	return dirs
}

// IsWithin reports whether a directory is another one, or is below it.
func IsWithin(outer, dir string) bool {
	return outer == "." || dir == outer || strings.HasPrefix(dir, outer+"/")
}
