package stack

import (
	"io/fs"
	"path"
	"strings"
)

// Limits for searching a tree: an agent may have written any number of files.
const (
	mostFiles = 100_000
	deepest   = 12
)

// isGeneratedDirectory reports whether a directory contains files that tools made or fetched.
func isGeneratedDirectory(name string) bool {
	switch name {
	case "node_modules", "vendor", "target", "build", "dist", "out", "bin", "obj", "venv", "__pycache__", "site-packages",
		"testdata", "fixtures", "coverage", "third_party":
		return true
	}
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_")
}

// IsInSkippedDir reports whether a file is in a directory of made or fetched files, or of
// samples.
func IsInSkippedDir(file string) bool {
	dir := path.Dir(file)
	for dir != "." && dir != "/" {
		if isGeneratedDirectory(path.Base(dir)) {
			return true
		}
		dir = path.Dir(dir)
	}
	return false
}

// SourceFiles returns the files of a tree, except those that tools made or fetched. It does not
// follow links.
func SourceFiles(tree fs.FS) []string {
	var all []string
	_ = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error { // unreadable files are skipped
		switch {
		case err != nil:
			return fs.SkipDir
		case d.IsDir() && name != "." && (isGeneratedDirectory(d.Name()) || strings.Count(name, "/") >= deepest):
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

// NewFileFinder returns a function that finds the only file of a tree whose path ends in a suffix, or
// "" if there is none or more than one. The tree is read at the first call.
func NewFileFinder(tree fs.FS) func(suffix string) string {
	var files []string
	looked := false
	return func(suffix string) string {
		if !looked {
			looked, files = true, SourceFiles(tree)
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

// CommandWords returns the words of a command, split at blanks, quotes and shell operators.
func CommandWords(args []string) []string {
	return strings.FieldsFunc(strings.Join(args, " "), func(r rune) bool { return strings.ContainsRune(" \t\n;&|()\"'`$=", r) })
}
