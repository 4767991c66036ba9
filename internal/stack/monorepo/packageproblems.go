package monorepo

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// findProblems records the problems with the packages of a repository.
func (r *PackageGraph) findProblems(tree fs.FS) {
	r.reportMissingMembers(tree)
	r.reportSameNames()
	r.reportCycles()
}

func (r *PackageGraph) addProblem(hint, format string, args ...any) {
	r.Problems = append(r.Problems, PackageProblem{fmt.Sprintf(format, args...), hint})
}

// reportMissingMembers records members of a workspace that do not exist.
func (r *PackageGraph) reportMissingMembers(tree fs.FS) {
	for _, p := range r.Packages {
		for _, k := range r.kinds {
			if k.names.Lists == nil || !slices.Contains(p.Kinds, k.Name) {
				continue
			}
			for _, member := range k.names.Lists(tree, p.Dir) {
				at := path.Join(p.Dir, member)
				if strings.ContainsAny(member, "*?[{!") || strings.HasPrefix(at, "..") {
					continue
				}
				if i, ok := r.dirs[at]; !ok || !slices.Contains(r.Packages[i].Kinds, k.Name) {
					r.addProblem("Create it, or remove it from the workspace; tools of "+k.Name+" may refuse to run until then.",
						"the %s workspace of %s names %s, which is no package", k.Name, p.Dir, at)
				}
			}
		}
	}
}

// reportSameNames records packages of one language that have the same name.
func (r *PackageGraph) reportSameNames() {
	for n, k := range r.kinds {
		for i, p := range r.Packages {
			of := r.names[n][p.Name]
			if len(of) < 2 || of[0] != i || !slices.Contains(p.Kinds, k.Name) {
				continue
			}
			var dirs []string
			for _, at := range of {
				if r.Packages[at].Name == p.Name {
					dirs = append(dirs, r.Packages[at].Dir)
				}
			}
			if len(dirs) > 1 {
				r.addProblem("Rename one of them. Until then, what names it counts as a dependency on all of them, "+
					"and settings and plans name the directory.",
					"%d packages of %s are called %s: %s", len(dirs), k.Name, p.Name, strings.Join(dirs, ", "))
			}
		}
	}
}

// reportCycles records packages that need each other, each cycle once. A cycle within another one is
// a part of it.
func (r *PackageGraph) reportCycles() {
	done := map[string]bool{}
	for _, p := range r.Packages {
		if done[p.Dir] || p.Dir == "." {
			continue
		}
		way := r.dependencyPath(p.Dir, p.Dir)
		if len(way) == 0 {
			continue
		}
		for _, dir := range way {
			done[dir] = true
		}
		r.addProblem("Nothing breaks: a change in one of them is judged by the gates of all of them. "+
			"Move what they share into a package of its own.",
			"packages need each other in a circle: %s", strings.Join(append(way, p.Dir), " -> "))
	}
}

// dependencyPath returns the shortest dependency path from a package to another one, without
// the end; nil if there is none.
func (r *PackageGraph) dependencyPath(from, to string) []string {
	before := map[string]string{}
	for queue := []string{from}; len(queue) > 0; queue = queue[1:] {
		for _, next := range r.Packages[r.dirs[queue[0]]].Needs {
			if next == "." || IsWithin(next, queue[0]) || IsWithin(queue[0], next) {
				continue
			}
			if next == to {
				way := []string{queue[0]}
				for at := queue[0]; at != from; {
					at = before[at]
					way = append([]string{at}, way...)
				}
				return way
			}
			if _, seen := before[next]; !seen && next != from {
				before[next] = queue[0]
				queue = append(queue, next)
			}
		}
	}
	return nil
}
