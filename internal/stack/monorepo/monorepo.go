// Package monorepo finds the packages of a repository and which of them may need
// which, so that rules, maps, gates and plans can keep to the packages that a
// change is about.
//
// It reads files and runs nothing. What it says is used to leave something out,
// so it errs on the side of a dependency: a package needs another one that its
// manifest or its code names, or a path of which it names. One of a language
// whose names are not known, or that reaches for what only a run of it would
// show, may need any other.
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

// Package is a directory of a repository that a manifest makes a unit.
type Package struct {
	Name  string   `json:"name"` // as its manifest has it, or its directory
	Dir   string   `json:"dir"`  // "." for the root
	Kinds []string `json:"kinds"`
	Needs []string `json:"needs"`          // directories of the packages that it needs itself
	Users []string `json:"dependents"`     // directories of those that need it themselves
	Wide  string   `json:"wide,omitempty"` // why it may need any other package; empty: it does not

	reaches []string // files and directories outside of it that it names, and that no other package has
}

// Problem is something about the packages of a repository that people should know.
type Problem struct {
	Text string `json:"text"`
	Hint string `json:"hint"` // what to do about it
}

// Repo is what is known of the packages of a repository.
type Repo struct {
	Packages []Package // by directory, the root first
	Problems []Problem

	kinds []kind
	dirs  map[string]int     // package by its directory
	names []map[string][]int // packages by what others call them, by the number of the kind
	have  map[string]bool    // files, directories and, for code, files without their endings
}

// kind is a stack with what is known of its names.
type kind struct {
	stack.Stack
	names stack.Names
}

// Bounds of what is read of a tree.
const (
	mostFiles = 100_000
	mostBytes = 256 << 20
	mostOne   = 1 << 20 // of one file; a larger source file may mean anything
)

// Read finds the packages of a tree. One without any has no packages.
func Read(tree fs.FS) *Repo {
	r := &Repo{dirs: map[string]int{}, have: map[string]bool{}}
	for _, s := range stack.All() {
		k := kind{Stack: s}
		if s.Names != nil {
			k.names = s.Names()
		}
		r.kinds = append(r.kinds, k)
	}
	files := r.list(tree)
	r.find(stack.Files(tree))
	if len(r.Packages) < 2 {
		return r
	}
	r.call(tree)
	w := reader{Repo: r, tree: tree, needs: make([]map[int]bool, len(r.Packages)), common: map[int]bool{}}
	w.read(files)
	r.tie(w.needs)
	r.findProblems(tree)
	return r
}

// find finds the directories that a manifest makes packages. Of a language whose
// names are not known, a directory within a package belongs to that.
func (r *Repo) find(files []string) {
	within := map[string][]string{}
	for _, f := range files {
		within[path.Dir(f)] = append(within[path.Dir(f)], path.Base(f))
	}
	dirs := make([]string, 0, len(within))
	for dir := range within {
		dirs = append(dirs, dir)
	}
	slices.SortStableFunc(dirs, func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) })
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
			if k.Marks(within[dir]) && (dir == "." || !k.Documents(within[dir])) && (k.names.Own != nil || !inside(dir, k.Name)) {
				kinds = append(kinds, k.Name)
			}
		}
		if len(kinds) > 0 {
			r.dirs[dir] = len(r.Packages)
			r.Packages = append(r.Packages, Package{Name: dir, Dir: dir, Kinds: kinds})
		}
	}
}

// rank puts the root before all others.
func rank(dir string) int {
	if dir == "." {
		return 0
	}
	return 1
}

// call notes what others call each package.
func (r *Repo) call(tree fs.FS) {
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

// tie turns what was read into directories.
func (r *Repo) tie(needs []map[int]bool) {
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

// Several reports whether a repository has packages besides its root.
func (r *Repo) Several() bool { return r != nil && len(r.Packages) > 1 }

// Of returns the innermost package that a file or a directory lies in, false where
// there is none.
func (r *Repo) Of(name string) (Package, bool) {
	if r == nil {
		return Package{}, false
	}
	if i, ok := r.of(name); ok {
		return r.Packages[i], true
	}
	return Package{}, false
}

func (r *Repo) of(name string) (int, bool) {
	for at := path.Clean(name); ; at = path.Dir(at) {
		if i, ok := r.dirs[at]; ok {
			return i, true
		}
		if at == "." || at == "/" || strings.HasPrefix(at, "..") {
			return 0, false
		}
	}
}

// Find returns the package that people mean by a name or a directory. The error
// says what there is instead.
func (r *Repo) Find(name string) (Package, error) {
	if r == nil {
		return Package{}, fmt.Errorf("no package is called %q; the repository has no packages", name)
	}
	if i, ok := r.dirs[path.Clean(name)]; ok {
		return r.Packages[i], nil
	}
	var found []Package
	for _, p := range r.Packages {
		if p.Name == name {
			found = append(found, p)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return Package{}, fmt.Errorf("no package is called %q; %s", name, r.said())
	}
	return Package{}, fmt.Errorf("%d packages are called %q: %s; name the directory", len(found), name, strings.Join(dirsOf(found), ", "))
}

// mostSaid bounds the packages that an error names.
const mostSaid = 12

// said names the packages of a repository.
func (r *Repo) said() string {
	if len(r.Packages) == 0 {
		return "the repository has no packages"
	}
	var names []string
	for _, p := range r.Packages[:min(len(r.Packages), mostSaid)] {
		names = append(names, p.Label())
	}
	text := "there are " + strings.Join(names, ", ")
	if more := len(r.Packages) - len(names); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// Label is a package as people read it: its name, and where it is.
func (p Package) Label() string {
	if p.Name == p.Dir {
		return p.Dir
	}
	return p.Name + " (" + p.Dir + ")"
}

func dirsOf(all []Package) []string {
	dirs := make([]string, len(all))
	for i, p := range all {
		dirs[i] = p.Dir
	}
	return dirs
}

// Within reports whether a directory is another one, or lies below it.
func Within(outer, dir string) bool {
	return outer == "." || dir == outer || strings.HasPrefix(dir, outer+"/")
}
