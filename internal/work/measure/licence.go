package measure

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// LicencePlaces are where packages lie. The zero Places has none.
type LicencePlaces struct {
	Modules string              // directory of Go's module cache
	Home    string              // the user's
	Env     func(string) string // the user's environment; nil: it is empty
	Trees   []string            // directories in which packages were installed beside the code
}

// Of returns the licence of a package as an SPDX expression, empty where
// nobody knows it.
func (p LicencePlaces) Of(k stack.Package) string {
	if len(k.Licences) > 0 { // any of them will do
		var all []string
		for _, l := range k.Licences {
			if name := LicenceName(l); name != "" {
				all = append(all, name)
			}
		}
		if len(all) > 0 {
			return strings.Join(all, " OR ")
		}
	}
	if !filepath.IsLocal(k.Name) || strings.ContainsAny(k.Name+k.Version, "\x00\\*?[") || k.Version != "" && !filepath.IsLocal(k.Version) {
		return ""
	}
	switch k.Kind {
	case stack.KindGo:
		return p.module(k)
	case stack.KindNode:
		return p.node(k)
	case stack.KindPython:
		return p.python(k)
	case stack.KindRust:
		return p.crate(k)
	case stack.KindRuby:
		return p.gem(k)
	case stack.KindPHP:
		return p.composer(k)
	case stack.KindMaven:
		return p.maven(k)
	case stack.KindNuGet:
		return p.nuget(k)
	}
	return ""
}

func (p LicencePlaces) env(name string) string {
	if p.Env == nil {
		return ""
	}
	return p.Env(name)
}

// at returns the first of some directories that is set, and below the home
// what is not.
func (p LicencePlaces) at(set string, below ...string) string {
	if set != "" {
		return set
	}
	if p.Home == "" {
		return ""
	}
	return filepath.Join(append([]string{p.Home}, below...)...)
}

// maxLicence bounds a file that is read.
const maxLicence = 1 << 20

// readLicence returns the text of a regular file, empty for what is none: agents may
// have put something else there.
func readLicence(path string) string {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) //nolint:gosec // a package's description, of which only the licence is used
	if err != nil {
		return ""
	}
	defer f.Close() //nolint:errcheck // only read
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() || info.Size() > maxLicence {
		return ""
	}
	data, err := io.ReadAll(io.LimitReader(f, maxLicence))
	if err != nil {
		return ""
	}
	return string(data)
}

// matching returns the paths that one of the patterns matches, in order.
func matching(patterns ...string) []string {
	var all []string
	for _, p := range patterns {
		found, _ := filepath.Glob(p) // the patterns are ours
		all = append(all, found...)
	}
	return all
}

// inText looks for a text of a licence in a directory.
func inText(dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	for _, e := range entries {
		base := strings.ToLower(e.Name())
		if !e.Type().IsRegular() || !slices.ContainsFunc([]string{"licen", "copying", "unlicen", "mit-licen"}, func(begin string) bool { return strings.HasPrefix(base, begin) }) {
			continue
		}
		if l := LicenceText(readLicence(filepath.Join(dir, e.Name()))); l != "" {
			return l
		}
	}
	return ""
}

// module looks into the module cache, and among vendored modules.
func (p LicencePlaces) module(k stack.Package) string {
	if p.Modules != "" {
		if l := inText(filepath.Join(p.Modules, filepath.FromSlash(escaped(k.Name))+"@"+escaped(k.Version))); l != "" {
			return l
		}
	}
	for _, t := range p.Trees {
		if l := inText(filepath.Join(t, "vendor", filepath.FromSlash(k.Name))); l != "" {
			return l
		}
	}
	return ""
}

// escaped writes a path as the module cache does: a capital is its small
// letter behind an exclamation mark.
func escaped(s string) string {
	var b strings.Builder
	for _, r := range s {
		if r >= 'A' && r <= 'Z' {
			b.WriteByte('!')
			r += 'a' - 'A'
		}
		b.WriteRune(r)
	}
	return b.String()
}
