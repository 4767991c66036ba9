// Package codemap draws a map of the parts of a repository that matter for a
// task, and lists the commands that its files offer.
package codemap

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/ignore"
)

// place is a directory with untrusted content.
type place struct{ dir string }

// has returns the first of the names that is a regular file, or "".
func (p place) has(names ...string) string {
	i := slices.IndexFunc(names, func(n string) bool {
		info, err := os.Lstat(filepath.Join(p.dir, n))
		return err == nil && info.Mode().IsRegular() && !p.hidden().Hides(n)
	})
	if i < 0 {
		return ""
	}
	return names[i]
}

// hidden returns the files that are hidden from agents at the root.
func (p place) hidden() ignore.Set {
	// an unreadable ignore file hides all files
	s, _ := ignore.New(map[string]string{ignore.File: p.text(ignore.File)})
	return s
}

// text returns the text of a file, if it is not too large.
func (p place) text(name string) string {
	info, err := os.Lstat(filepath.Join(p.dir, name))
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return ""
	}
	data, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		return ""
	}
	return string(data)
}
