// Package codemap draws a map of the parts of a repository that matter for a
// task, and lists the commands that its files offer.
package codemap

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/ignore"
)

// place is a directory whose content nobody vouches for.
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

// hidden returns what is kept from agents at the root.
func (p place) hidden() ignore.Set {
	s, _ := ignore.New(map[string]string{ignore.File: p.text(ignore.File)}) // what cannot be read hides all
	return s
}

// text returns what is in a file of a sensible size.
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
