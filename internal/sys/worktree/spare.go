package worktree

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
)

// Spare notes which paths of the tree at dir are not its own: they were put
// there for it, and whoever did so takes them back. They are never looked at,
// kept or stripped, whatever the rules say. The note lies beside the tree.
func Spare(dir string, paths []string) error {
	if len(paths) == 0 {
		err := os.Remove(spareFile(dir))
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return disk.Fail("spare nothing", err)
	}
	return disk.Replace(spareFile(dir), []byte(strings.Join(paths, "\x00")))
}

func spareFile(dir string) string { return filepath.Join(filepath.Dir(dir), "spared") }

// Spared returns what [Spare] noted.
func Spared(dir string) []string {
	data, err := os.ReadFile(spareFile(dir))
	if err != nil || len(data) == 0 {
		return nil
	}
	return strings.Split(string(data), "\x00")
}

// spares reports whether a path is spared, or is in one that is.
func (k *known) spares(p string) bool {
	return slices.ContainsFunc(k.spared, func(s string) bool { return p == s || strings.HasPrefix(p, s+"/") })
}

// spare adds what is spared to what the rules leave out.
func (k *known) spare(batch []entry, out map[string]bool) map[string]bool {
	out = maps.Clone(out)
	if out == nil {
		out = map[string]bool{}
	}
	for _, e := range batch {
		out[e.path] = out[e.path] || k.spares(e.path)
	}
	return out
}

// stripAround removes what is ignored and not spared, which may lie within.
func (k *known) stripAround(dir, p string) error {
	if k.spares(p) {
		return nil
	}
	if !slices.ContainsFunc(k.spared, func(s string) bool { return strings.HasPrefix(s, p+"/") }) {
		return disk.RemoveAll(filepath.Join(dir, p))
	}
	list, err := os.ReadDir(filepath.Join(dir, p))
	for _, e := range list {
		err = errors.Join(err, k.stripAround(dir, p+"/"+e.Name()))
	}
	return err
}
