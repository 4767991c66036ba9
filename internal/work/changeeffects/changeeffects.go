// Package changeeffects reads the effects of a change on the files of a tree. It follows no link out
// of the tree.
package changeeffects

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// FileVersionsReader returns a function for the lines of a file in the tree below dir, and its lines
// at the base; ok is false if the file exists in neither.
func FileVersionsReader(ctx context.Context, repo git.Repo, dir, base string) func(file string) (now, before []string, ok bool) {
	return func(file string) (now, before []string, ok bool) {
		if data, err := ReadFile(dir, file); err == nil {
			now, ok = textLines(string(data)), true
		}
		if old, err := repo.Run(ctx, "cat-file", "blob", base+":"+file); err == nil {
			before, ok = textLines(old), true
		}
		return now, before, ok
	}
}

// LinesAround returns the lines of a file of a commit that are at most n away from a line, and
// the number of the first, or 0 if there are none.
func LinesAround(ctx context.Context, repo git.Repo, commit, file string, line, n int) (from int, around []string) {
	t, err := FileTextAt(ctx, repo, commit, file)
	if err != nil || strings.ContainsRune(*t, 0) {
		return 0, nil // the file is gone or unreadable
	}
	all := textLines(*t)
	if line < 1 || line > len(all) {
		return 0, nil
	}
	from = max(1, line-n)
	return from, all[from-1 : min(len(all), line+n)]
}

// textLines returns the lines of a text.
func textLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// HasConflictMarks reports whether a file below dir still has conflict markers.
func HasConflictMarks(dir, file string) bool {
	data, err := ReadFile(dir, file)
	if err != nil {
		return false
	}
	for _, mark := range []string{"<<<<<<< ", ">>>>>>> "} {
		if bytes.HasPrefix(data, []byte(mark)) || bytes.Contains(data, []byte("\n"+mark)) {
			return true
		}
	}
	return false
}

// maxFile limits how many bytes of a file are read.
const maxFile = 32 << 20

// ReadFile reads a regular file below dir. It follows no link out of dir.
func ReadFile(dir, file string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // it was opened for reading only
	info, err := root.Lstat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, fs.ErrInvalid
	}
	return root.ReadFile(file)
}
