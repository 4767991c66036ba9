package graph

import (
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// Conflicts reports whether two tasks declare the same file, or one declares
// a directory or pattern that the other's file may lie in, or both declare manifests
// of one language, whose packages share a lock file. A task does not
// conflict with itself, and one that declares nothing conflicts with none.
func (g *Graph) Conflicts(a, b nexus.TaskID) bool {
	i, ok := g.index[a]
	j, too := g.index[b]
	return ok && too && i != j && pathsOverlap(g.touch[i], g.touch[j])
}

// touchSet makes declared paths comparable: clean, and a pattern reduced to
// the directory that holds whatever it matches. The root is "".
func touchSet(files []string) []string {
	var set []string
	for _, f := range files {
		f = strings.ReplaceAll(strings.TrimSpace(f), "\\", "/")
		if f == "" {
			continue
		}
		if i := strings.IndexAny(f, "*?[{"); i >= 0 {
			f = f[:strings.LastIndexByte(f[:i], '/')+1]
		}
		set = append(set, strings.TrimPrefix(path.Clean("/"+f), "/"))
	}
	slices.Sort(set)
	return slices.Compact(set)
}

func pathsOverlap(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool {
		return slices.ContainsFunc(b, func(y string) bool { return isWithin(x, y) || isWithin(y, x) })
	})
}

// lockGroup is what a language's manifests and lock files are called, as patterns.
type lockGroup struct {
	kind     string
	patterns []string // in lower case
}

// lockGroups returns the languages whose packages in a workspace share a lock file at
// its root, which changes with the manifest of any.
func lockGroups() []lockGroup {
	var all []lockGroup
	for _, s := range stack.All() {
		if s.Names == nil {
			continue
		}
		l := lockGroup{kind: s.Name}
		for _, name := range slices.Concat(s.Markers, s.Written) {
			l.patterns = append(l.patterns, strings.ToLower(name))
		}
		all = append(all, l)
	}
	return all
}

// holds reports whether a file is a manifest or a lock file of the language.
func (l lockGroup) holds(file string) bool {
	name := strings.ToLower(path.Base(strings.TrimSpace(file)))
	return slices.ContainsFunc(l.patterns, func(p string) bool {
		ok, _ := path.Match(p, name) // a bad pattern fits nothing
		return ok || p == name
	})
}

// locked returns what stands for the lock files that change with some of the files:
// two tasks that declare manifests of one language collide in it.
func locked(files []string, lockers []lockGroup) []string {
	var all []string
	for _, l := range lockers {
		if slices.ContainsFunc(files, l.holds) {
			all = append(all, "\x00lock of "+l.kind)
		}
	}
	return all
}

// isWithin reports whether file is dir or lies in it.
func isWithin(dir, file string) bool {
	return dir == "" || file == dir || len(file) > len(dir) && file[len(dir)] == '/' && strings.HasPrefix(file, dir)
}

// Covers reports whether declared paths name a file, or a directory or pattern that
// it may lie in.
func Covers(declared []string, file string) bool {
	return pathsOverlap(touchSet(declared), touchSet([]string{file}))
}

// Overlap reports whether two sets of paths name the same file, or one a directory
// or pattern that a file of the other may lie in.
func Overlap(a, b []string) bool { return pathsOverlap(touchSet(a), touchSet(b)) }

// Collision is two tasks that touch the same files.
type Collision struct {
	A, B  int      // their places
	Files []string // that both touch, as the one that says more names them
}

// Collisions returns the pairs of tasks that collide, see [Graph.Conflicts].
func Collisions(tasks []nexus.Task) []Collision {
	locks := lockGroups()
	holders, below := map[string][]int{}, map[string][]int{} // who names a path, and who something in it
	sets := make([][]string, len(tasks))
	for i, t := range tasks {
		sets[i] = append(touchSet(t.Files), locked(t.Files, locks)...)
	}
	var all []Collision
	for i, set := range sets {
		found := map[int][]string{}
		hit := func(others []int, file string) {
			for _, j := range others {
				if names := found[j]; len(names) == 0 || names[len(names)-1] != file {
					found[j] = append(names, file)
				}
			}
		}
		for _, f := range set {
			hit(below[f], f)
			hit(holders[f], f)
			for _, dir := range parentDirs(f) {
				hit(holders[dir], f)
			}
		}
		for j := range i {
			if files := found[j]; len(files) > 0 {
				all = append(all, Collision{j, i, named(files)})
			}
		}
		for _, f := range set {
			holders[f] = append(holders[f], i)
			for _, dir := range parentDirs(f) {
				below[dir] = append(below[dir], i)
			}
		}
	}
	return all
}

// parentDirs returns the directories that a path lies in, the nearest first and the top, which
// is empty, last. The top lies in none.
func parentDirs(file string) (dirs []string) {
	for file != "" {
		if file = path.Dir(file); file == "." || file == "/" {
			file = ""
		}
		dirs = append(dirs, file)
	}
	return dirs
}

// named returns paths as people know them, each once.
func named(files []string) []string {
	all := make([]string, 0, len(files))
	for _, f := range files {
		f = strings.TrimPrefix(f, "\x00")
		if f == "" {
			f = "."
		}
		if !slices.Contains(all, f) {
			all = append(all, f)
		}
	}
	return all
}
