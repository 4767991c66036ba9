package taskgraph

import (
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// HasConflict reports whether two tasks declare the same file, or one declares a directory or
// pattern that may contain the other's file, or both declare manifests of the same language,
// whose packages share a lock file. A task does not conflict with itself, and a task without
// files conflicts with none.
func (g *TaskGraph) HasConflict(a, b nexus.TaskID) bool {
	i, ok := g.index[a]
	j, too := g.index[b]
	return ok && too && i != j && pathsOverlap(g.touch[i], g.touch[j])
}

// normalizePaths makes declared paths comparable: they are cleaned, and a pattern is reduced to the
// directory that contains all its matches. The root is "".
func normalizePaths(files []string) []string {
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

// manifestPatterns lists the manifests and lock files of a language as patterns.
type manifestPatterns struct {
	kind     string
	patterns []string // in lower case
}

// manifestPatternsByLanguage returns the languages whose packages in a workspace share a lock file at the
// root, which changes with each manifest.
func manifestPatternsByLanguage() []manifestPatterns {
	var all []manifestPatterns
	for _, s := range stack.AllStacks() {
		if s.Names == nil {
			continue
		}
		l := manifestPatterns{kind: s.Name}
		for _, name := range slices.Concat(s.Markers, s.Written) {
			l.patterns = append(l.patterns, strings.ToLower(name))
		}
		all = append(all, l)
	}
	return all
}

// isInGroup reports whether a file is a manifest or a lock file of the language.
func (l manifestPatterns) isInGroup(file string) bool {
	name := strings.ToLower(path.Base(strings.TrimSpace(file)))
	return slices.ContainsFunc(l.patterns, func(p string) bool {
		ok, _ := path.Match(p, name) // an invalid pattern matches nothing
		return ok || p == name
	})
}

// sharedLockFiles returns names for the lock files that change with the given files: two tasks that
// declare manifests of one language conflict through them.
func sharedLockFiles(files []string, lockers []manifestPatterns) []string {
	var all []string
	for _, l := range lockers {
		if slices.ContainsFunc(files, l.isInGroup) {
			all = append(all, "\x00lock of "+l.kind)
		}
	}
	return all
}

// isWithin reports whether file is dir or is inside it.
func isWithin(dir, file string) bool {
	return dir == "" || file == dir || len(file) > len(dir) && file[len(dir)] == '/' && strings.HasPrefix(file, dir)
}

// DeclaresFile reports whether declared paths contain a file, or a directory or pattern that may
// contain it.
func DeclaresFile(declared []string, file string) bool {
	return pathsOverlap(normalizePaths(declared), normalizePaths([]string{file}))
}

// PathsOverlap reports whether two sets of paths contain the same file, or one contains a
// directory or pattern that may contain a file of the other.
func PathsOverlap(a, b []string) bool { return pathsOverlap(normalizePaths(a), normalizePaths(b)) }

// TaskFileCollision is a pair of tasks that touch the same files.
type TaskFileCollision struct {
	A, B  int      // their indexes
	Files []string // the shared files, in the more specific form
}

// TaskCollisions returns the pairs of tasks that conflict, see [TaskGraph.HasConflict].
func TaskCollisions(tasks []nexus.Task) []TaskFileCollision {
	locks := manifestPatternsByLanguage()
	// tasks that name a path, and tasks that name something inside it
	holders, below := map[string][]int{}, map[string][]int{}
	sets := make([][]string, len(tasks))
	for i, t := range tasks {
		sets[i] = append(normalizePaths(t.Files), sharedLockFiles(t.Files, locks)...)
	}
	var all []TaskFileCollision
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
				all = append(all, TaskFileCollision{j, i, displayPaths(files)})
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

// parentDirs returns the directories that contain a path, the nearest first and the root,
// which is "", last. The root has none.
func parentDirs(file string) (dirs []string) {
	for file != "" {
		if file = path.Dir(file); file == "." || file == "/" {
			file = ""
		}
		dirs = append(dirs, file)
	}
	return dirs
}

// displayPaths returns paths in display form, without repetition.
func displayPaths(files []string) []string {
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
