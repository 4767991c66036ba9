// Package look reads files of a worktree that an agent wrote, and follows no
// link out of it.
package look

import (
	"bytes"
	"context"
	"io/fs"
	"os"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// Lines returns how many lines a file below dir has, and -1 for what is no
// regular file within it.
func Lines(dir, file string) int {
	data, err := content(dir, file)
	if err != nil {
		return -1
	}
	n := bytes.Count(data, []byte("\n"))
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// Counter returns how many lines a file has in the tree below dir, or had in
// the base when the change deleted it, and false where there is and was none.
func Counter(ctx context.Context, repo git.Repo, dir, base string) func(file string) (int, bool) {
	return func(file string) (int, bool) {
		if n := Lines(dir, file); n >= 0 {
			return n, true
		}
		old, err := repo.Run(ctx, "cat-file", "blob", base+":"+file)
		return strings.Count(old, "\n"), err == nil
	}
}

// Marked reports whether a file below dir still has the marks of a conflict.
func Marked(dir, file string) bool {
	data, err := content(dir, file)
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

// maxFile is how much of a file is read to look at it.
const maxFile = 32 << 20

// content reads a regular file below dir and follows no link out of it.
func content(dir, file string) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // it was only read
	info, err := root.Lstat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxFile {
		return nil, fs.ErrInvalid
	}
	return root.ReadFile(file)
}
