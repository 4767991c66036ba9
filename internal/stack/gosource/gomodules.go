package gosource

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// Manifest is the name of the file that makes a directory a Go module.
const Manifest = "go.mod"

// IsGoTree reports whether the root of a tree is a Go module or workspace.
func IsGoTree(tree fs.FS) bool { return IsFile(tree, Manifest) || IsFile(tree, "go.work") }

// GoModules returns the Go modules of a tree with their directories: the one at its root, those
// that go.work uses, and others below it.
func GoModules(tree fs.FS) map[string]string {
	found := map[string]string{}
	for _, at := range append(append(NestedModules(tree), WorkspaceDirs(tree)...), ".") {
		if name := ModuleName(ReadRegularFile(tree, path.Join(at, "go.mod"))); name != "" {
			found[name] = at
		}
	}
	return found
}

// ModuleName returns the module name in the text of a go.mod, "" for none.
func ModuleName(text string) string {
	for l := range strings.Lines(text) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(l), "module "); ok {
			name, _, _ = strings.Cut(name, "//")
			return strings.Trim(strings.TrimSpace(name), "\"`")
		}
	}
	return ""
}

// WorkspaceDirs returns the directories of a tree that its go.work uses.
func WorkspaceDirs(tree fs.FS) []string { return WorkspaceDirsOf(tree, ".") }

// WorkspaceDirsOf returns the directories that the go.work in a directory uses, relative
// to it.
func WorkspaceDirsOf(tree fs.FS, dir string) []string {
	var used []string
	block := false
	for l := range strings.Lines(ReadRegularFile(tree, path.Join(dir, "go.work"))) {
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
		if at := path.Clean(word); word != "" && word != ")" && fs.ValidPath(at) {
			used = append(used, at)
		}
	}
	return used
}

// ReadRegularFile returns the text of a regular file of a tree, or "" if there is none: an agent may
// have made it a pipe, a link or endless.
func ReadRegularFile(tree fs.FS, name string) string {
	name = path.Clean(name)
	info, err := fs.Lstat(tree, name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return ""
	}
	data, err := fs.ReadFile(tree, name)
	if err != nil {
		return ""
	}
	return string(data)
}

// GoFiles returns the Go files of a tree, except those that the go command ignores.
func GoFiles(tree fs.FS) []string {
	var all []string
	_ = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error { // unreadable files are skipped
		switch {
		case err != nil:
			return nil //nolint:nilerr // as above
		case d.IsDir() && name != "." && isIgnoredDirectory(d.Name()):
			return fs.SkipDir
		case strings.HasSuffix(name, ".go") && d.Type().IsRegular():
			all = append(all, name)
		}
		return nil
	})
	return all
}

// isIgnoredDirectory reports whether the go command ignores a directory.
func isIgnoredDirectory(base string) bool {
	return base == "vendor" || base == "testdata" || base == "node_modules" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")
}

// TestDirs returns the directories of a tree that have test files.
func TestDirs(tree fs.FS) []string {
	seen := map[string]bool{}
	for _, f := range GoFiles(tree) {
		if strings.HasSuffix(f, "_test.go") {
			seen[path.Dir(f)] = true
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// PackageName returns the name of the package in a directory of a tree.
func PackageName(tree fs.FS, dir string) (string, bool) {
	all := parsedFiles(tree, dir, "_test.go")
	i := slices.IndexFunc(all, ParsedGoFile.isUnconditional)
	if i < 0 {
		return "", false
	}
	return strings.TrimSuffix(all[i].file.Name.Name, "_test"), true
}

// ImportPath returns the import path of a directory below the tree's root.
func ImportPath(dir string, modules map[string]string) string {
	best, name := -1, ""
	for module, at := range modules {
		at = path.Clean(at)
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

// PackagePatterns returns the patterns for all Go packages of the module, or the workspace, in a
// directory of a tree; nil if there is none.
func PackagePatterns(tree fs.FS, dir string) []string {
	if IsFile(tree, path.Join(dir, "go.work")) {
		var all []string
		for _, at := range WorkspaceDirsOf(tree, dir) {
			all = append(all, "./"+path.Join(at, "..."))
		}
		if len(all) > 0 {
			return all
		}
	}
	if IsFile(tree, path.Join(dir, "go.mod")) {
		return []string{"./..."}
	}
	return nil
}

// IsFile reports whether a name is a regular file. A link is none.
func IsFile(tree fs.FS, name string) bool {
	info, err := fs.Lstat(tree, path.Clean(name))
	return err == nil && info.Mode().IsRegular()
}

// NestedModules returns the directories below the root of a tree that are Go modules of their own,
// except those of its workspace. In a workspace there are none: the go command knows no other
// modules then.
func NestedModules(tree fs.FS) []string {
	if IsFile(tree, "go.work") {
		return nil
	}
	var found []string
	_ = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error { // unreadable files are skipped
		base := path.Base(name)
		switch {
		case err != nil:
			return nil //nolint:nilerr // as above
		case d.IsDir() && name != "." && (isIgnoredDirectory(base) || strings.Count(name, "/") >= 12):
			return fs.SkipDir
		case base == "go.mod" && d.Type().IsRegular() && path.Dir(name) != ".":
			found = append(found, path.Dir(name))
		}
		if len(found) >= 40 {
			return fs.SkipAll
		}
		return nil
	})
	return found
}

// HasCodeAndTests reports whether the module in a directory of a tree has code, and whether it has
// tests, under any build tags.
func HasCodeAndTests(tree fs.FS, module string) (code, tests bool) {
	module = path.Clean(module)
	_ = fs.WalkDir(tree, module, func(name string, d fs.DirEntry, err error) error { // unreadable files are skipped
		base := path.Base(name)
		switch {
		case err != nil:
			return nil //nolint:nilerr // as above
		case d.IsDir() && name != module && (isIgnoredDirectory(base) || IsFile(tree, path.Join(name, "go.mod"))):
			return fs.SkipDir
		case strings.HasSuffix(base, "_test.go"):
			tests = tests || isReadable(tree, name)
		case strings.HasSuffix(base, ".go"):
			code = code || isReadable(tree, name)
		}
		if code && tests {
			return fs.SkipAll
		}
		return nil
	})
	return code, tests
}

func isReadable(tree fs.FS, name string) bool {
	s, ok := ParseGoFile(tree, name)
	return ok && s.isUnconditional()
}

// IsDirInModule reports whether a directory of a tree is included when the Go tools run in the
// module at another: it belongs to that module, or, at the root, to a module of its workspace.
func IsDirInModule(tree fs.FS, module, dir string) bool {
	owner := "."
	for _, at := range NestedModules(tree) {
		if (dir == at || strings.HasPrefix(dir, at+"/")) && (owner == "." || len(at) > len(owner)) {
			owner = at
		}
	}
	return owner == path.Clean(module)
}
