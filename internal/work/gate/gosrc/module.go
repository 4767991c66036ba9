package gosrc

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Modules returns the Go modules of a tree with their directories: the one at
// its root and those that go.work uses.
func Modules(dir string) map[string]string {
	found := map[string]string{}
	for _, at := range append(Workspace(dir), ".") {
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

// TestDirs returns the directories below root that have test files.
func TestDirs(root string) []string {
	seen := map[string]bool{}
	_ = filepath.WalkDir(root, func(name string, d os.DirEntry, err error) error { // what cannot be read has no tests that run
		base := filepath.Base(name)
		switch {
		case err != nil:
			return nil //nolint:nilerr // as above
		case d.IsDir() && name != root && (base == "vendor" || base == "testdata" || base == "node_modules" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")):
			return filepath.SkipDir
		case strings.HasSuffix(base, "_test.go"):
			if dir, err := filepath.Rel(root, filepath.Dir(name)); err == nil {
				seen[filepath.ToSlash(dir)] = true
			}
		}
		return nil
	})
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
