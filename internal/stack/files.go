package stack

import (
	"io/fs"
	"path"
	"strings"
)

// Bounds of looking around in a tree: what an agent wrote may be endless.
const (
	mostFiles = 100_000
	deepest   = 12
)

// skipped reports whether a directory holds what tools made or fetched.
func skipped(name string) bool {
	switch name {
	case "node_modules", "vendor", "target", "build", "dist", "out", "bin", "obj", "venv", "__pycache__", "site-packages",
		"testdata", "fixtures", "coverage", "third_party":
		return true
	}
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

// IsInSkippedDir reports whether a file lies in a directory of what tools made or fetched, or of
// samples.
func IsInSkippedDir(file string) bool {
	dir := path.Dir(file)
	for dir != "." && dir != "/" {
		if skipped(path.Base(dir)) {
			return true
		}
		dir = path.Dir(dir)
	}
	return false
}

// Files returns the files of a tree, without what tools made or fetched. It
// follows no link.
func Files(tree fs.FS) []string {
	var all []string
	_ = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error { // what cannot be read is not there
		switch {
		case err != nil:
			return fs.SkipDir
		case d.IsDir() && name != "." && (skipped(d.Name()) || strings.Count(name, "/") >= deepest):
			return fs.SkipDir
		case len(all) >= mostFiles:
			return fs.SkipAll
		case d.Type().IsRegular():
			all = append(all, name)
		}
		return nil
	})
	return all
}

// Finder finds the one file of a tree whose path ends in a suffix, empty
// where there is none or more than one. It looks around when it is first
// asked.
func Finder(tree fs.FS) func(suffix string) string {
	var files []string
	looked := false
	return func(suffix string) string {
		if !looked {
			looked, files = true, Files(tree)
		}
		suffix = path.Clean("/" + suffix)
		found := ""
		for _, f := range files {
			if strings.HasSuffix("/"+f, suffix) {
				if found != "" {
					return ""
				}
				found = f
			}
		}
		return found
	}
}

// Words returns the words of a command, whatever a shell makes of them.
func Words(args []string) []string {
	return strings.FieldsFunc(strings.Join(args, " "), func(r rune) bool { return strings.ContainsRune(" \t\n;&|()\"'`$=", r) })
}
