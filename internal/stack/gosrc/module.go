package gosrc

import (
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Modules returns the Go modules of a tree with their directories: the one at
// its root, those that go.work uses, and others below it.
func Modules(dir string) map[string]string {
	found := map[string]string{}
	for _, at := range append(append(Nested(dir), Workspace(dir)...), ".") {
		if name := moduleName(filepath.Join(dir, at, "go.mod")); name != "" {
			found[name] = at
		}
	}
	return found
}

func moduleName(path string) string {
	for l := range strings.Lines(ReadSmall(path)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(l), "module "); ok {
			name, _, _ = strings.Cut(name, "//")
			return strings.Trim(strings.TrimSpace(name), "\"`")
		}
	}
	return ""
}

// Workspace returns the directories below dir that go.work uses.
func Workspace(dir string) []string {
	var used []string
	block := false
	for l := range strings.Lines(ReadSmall(filepath.Join(dir, "go.work"))) {
		l, _, _ = strings.Cut(strings.TrimSpace(l), "//")
		word, rest, _ := strings.Cut(strings.TrimSpace(l), " ")
		switch {
		case word == "use" && strings.TrimSpace(rest) == "(":
			block = true
			continue
		case word == ")":
			block = false
		case word == "use":
			word = strings.TrimSpace(rest)
		case !block:
			continue
		}
		word = strings.Trim(word, "\"`")
		if at := filepath.ToSlash(filepath.Clean(word)); word != "" && word != ")" && filepath.IsLocal(word) {
			used = append(used, at)
		}
	}
	return used
}

// ReadSmall returns the text of a regular file within the tree, and nothing
// where there is none: what an agent wrote may be a pipe, a link or endless.
func ReadSmall(path string) string {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return ""
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return string(data)
}

// Files returns the Go files below root, relative and with slashes, but for
// those that the go command does not look at.
func Files(root string) []string {
	var all []string
	_ = filepath.WalkDir(root, func(name string, d os.DirEntry, err error) error { // what cannot be read is not there
		base := filepath.Base(name)
		switch {
		case err != nil:
			return nil //nolint:nilerr // as above
		case d.IsDir() && name != root && hidden(base):
			return filepath.SkipDir
		case strings.HasSuffix(base, ".go") && d.Type().IsRegular():
			if rel, err := filepath.Rel(root, name); err == nil {
				all = append(all, filepath.ToSlash(rel))
			}
		}
		return nil
	})
	return all
}

// hidden reports whether the go command passes by a directory.
func hidden(base string) bool {
	return base == "vendor" || base == "testdata" || base == "node_modules" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")
}

// TestDirs returns the directories below root that have test files.
func TestDirs(root string) []string {
	seen := map[string]bool{}
	for _, f := range Files(root) {
		if strings.HasSuffix(f, "_test.go") {
			seen[path.Dir(f)] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// PackageName returns the name of the package in a directory.
func PackageName(dir string) (string, bool) {
	all := sources(dir, "_test.go")
	i := slices.IndexFunc(all, Source.always)
	if i < 0 {
		return "", false
	}
	return strings.TrimSuffix(all[i].file.Name.Name, "_test"), true
}

// ImportPath returns the import path of a directory below the tree's root.
func ImportPath(dir string, modules map[string]string) string {
	best, name := -1, ""
	for module, at := range modules {
		at = filepath.ToSlash(filepath.Clean(at))
		rest, ok := dir, true
		if at != "." {
			rest, ok = strings.CutPrefix(dir, at)
		}
		if !ok || at != "." && rest != "" && rest[0] != '/' || len(at) < best {
			continue
		}
		best, name = len(at), strings.TrimSuffix(module+"/"+strings.TrimPrefix(strings.TrimPrefix(rest, "."), "/"), "/")
	}
	return name
}

// Patterns returns the patterns for all Go packages of a tree, nil where
// there is no module.
func Patterns(dir string) []string {
	if IsFile(filepath.Join(dir, "go.work")) {
		var all []string
		for _, at := range Workspace(dir) {
			all = append(all, "./"+filepath.ToSlash(filepath.Join(at, "...")))
		}
		if len(all) > 0 {
			return all
		}
	}
	if IsFile(filepath.Join(dir, "go.mod")) {
		return []string{"./..."}
	}
	return nil
}

// IsFile reports whether there is a regular file, not a link to one.
func IsFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}

// Nested returns the directories below the root of a tree that are Go modules
// of their own, those of its workspace left out. Where there is a workspace
// there are none: the go command knows no other modules then.
func Nested(root string) []string {
	if IsFile(filepath.Join(root, "go.work")) {
		return nil
	}
	var found []string
	_ = filepath.WalkDir(root, func(name string, d os.DirEntry, err error) error { // what cannot be read is not there
		rel, bad := filepath.Rel(root, name)
		base := filepath.Base(name)
		switch {
		case err != nil || bad != nil:
			return nil //nolint:nilerr // as above
		case d.IsDir() && rel != "." && (hidden(base) ||
			strings.Count(rel, string(filepath.Separator)) >= 12):
			return filepath.SkipDir
		case base == "go.mod" && d.Type().IsRegular() && filepath.Dir(rel) != ".":
			found = append(found, filepath.ToSlash(filepath.Dir(rel)))
		}
		if len(found) >= 40 {
			return filepath.SkipAll
		}
		return nil
	})
	return found
}

// Kinds reports whether a module has code, and whether it has tests, that
// belong to it whatever the build's tags are.
func Kinds(module string) (code, tests bool) {
	_ = filepath.WalkDir(module, func(name string, d os.DirEntry, err error) error { // what cannot be read is not there
		base := filepath.Base(name)
		switch {
		case err != nil:
			return nil //nolint:nilerr // as above
		case d.IsDir() && name != module && (hidden(base) || IsFile(filepath.Join(name, "go.mod"))):
			return filepath.SkipDir
		case strings.HasSuffix(base, "_test.go"):
			tests = tests || readable(name)
		case strings.HasSuffix(base, ".go"):
			code = code || readable(name)
		}
		if code && tests {
			return filepath.SkipAll
		}
		return nil
	})
	return code, tests
}

func readable(name string) bool {
	s, ok := Read(name)
	return ok && s.always()
}

// Judges reports whether the Go tools see a directory of a tree when they run
// in the module at another: it belongs to that module, or, at the root, to one
// of its workspace.
func Judges(root, module, dir string) bool {
	owner := "."
	for _, at := range Nested(root) {
		if (dir == at || strings.HasPrefix(dir, at+"/")) && (owner == "." || len(at) > len(owner)) {
			owner = at
		}
	}
	return owner == path.Clean(module)
}
