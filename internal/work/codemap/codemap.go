// Package codemap draws a map of the parts of a repository that matter for a
// task, and lists the commands that its files offer.
package codemap

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/ignore"
)

// untrustedDirectory is a directory with untrusted content.
type untrustedDirectory struct{ dir string }

// firstExistingFile returns the first of the names that is a regular file, or "".
func (p untrustedDirectory) firstExistingFile(names ...string) string {
	i := slices.IndexFunc(names, func(n string) bool {
		info, err := os.Lstat(filepath.Join(p.dir, n))
		return err == nil && info.Mode().IsRegular() && !p.hiddenFiles().IsIgnored(n)
	})
	if i < 0 {
		return ""
	}
	return names[i]
}

// hiddenFiles returns the files that are hidden from agents at the root.
func (p untrustedDirectory) hiddenFiles() ignore.IgnoreSet {
	// an unreadable ignore file hides all files
	s, _ := ignore.NewIgnoreSet(map[string]string{ignore.File: p.readSmallFile(ignore.File)})
	return s
}

// readSmallFile returns the text of a file, if it is not too large.
func (p untrustedDirectory) readSmallFile(name string) string {
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
