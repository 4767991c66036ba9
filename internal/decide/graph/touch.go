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
	return ok && too && i != j && clash(g.touch[i], g.touch[j])
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

func clash(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool {
		return slices.ContainsFunc(b, func(y string) bool { return within(x, y) || within(y, x) })
	})
}

// lockers returns, by the name of a manifest or a lock file, the language whose lock
// file changes with it: packages of a workspace share one at its root.
func lockers() map[string]string {
	by := map[string]string{}
	for _, s := range stack.All() {
		if s.Names == nil {
			continue
		}
		for _, name := range slices.Concat(s.Markers, s.Written) {
			by[strings.ToLower(name)] = s.Name
		}
	}
	return by
}

// locked returns what stands for the lock files that change with some of the files:
// two tasks that declare manifests of one language collide in it.
func locked(files []string, by map[string]string) []string {
	var all []string
	for _, f := range files {
		kind, ok := by[strings.ToLower(path.Base(strings.TrimSpace(f)))]
		if name := "\x00lock of " + kind; ok && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// within reports whether file is dir or lies in it.
func within(dir, file string) bool {
	return dir == "" || file == dir || len(file) > len(dir) && file[len(dir)] == '/' && strings.HasPrefix(file, dir)
}

// Covers reports whether declared paths name a file, or a directory or pattern that
// it may lie in.
func Covers(declared []string, file string) bool {
	return clash(touchSet(declared), touchSet([]string{file}))
}
