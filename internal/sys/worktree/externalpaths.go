package worktree

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
)

// SetExternalPaths records the paths of the tree at dir that are not its own: another package
// installed them in the tree and will remove them. They are never scanned, committed or stripped,
// whatever the ignore rules are. The record is beside the tree.
func SetExternalPaths(dir string, paths []string) error {
	if len(paths) == 0 {
		err := os.Remove(externalPathsFile(dir))
		if errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
		return filewrite.WrapError("spare nothing", err)
	}
	return filewrite.ReplaceFile(externalPathsFile(dir), []byte(strings.Join(paths, "\x00")))
}

func externalPathsFile(dir string) string { return filepath.Join(filepath.Dir(dir), "spared") }

// ExternalPaths returns the paths recorded by [SetExternalPaths].
func ExternalPaths(dir string) []string {
	data, err := os.ReadFile(externalPathsFile(dir))
	if err != nil || len(data) == 0 {
		return nil
	}
	return strings.Split(string(data), "\x00")
}

// isExternal reports whether a path is external, or below an external one.
func (k *treeScanCache) isExternal(p string) bool {
	return slices.ContainsFunc(k.spared, func(s string) bool { return p == s || strings.HasPrefix(p, s+"/") })
}

// addExternalPaths adds external paths to the ignored ones.
func (k *treeScanCache) addExternalPaths(batch []untrackedPath, out map[string]bool) map[string]bool {
	out = maps.Clone(out)
	if out == nil {
		out = map[string]bool{}
	}
	for _, e := range batch {
		out[e.path] = out[e.path] || k.isExternal(e.path)
	}
	return out
}

// removeIgnoredPath removes an ignored path, except for external paths within it.
func (k *treeScanCache) removeIgnoredPath(dir, p string) error {
	if k.isExternal(p) {
		return nil
	}
	if !slices.ContainsFunc(k.spared, func(s string) bool { return strings.HasPrefix(s, p+"/") }) {
		return filewrite.RemoveAll(filepath.Join(dir, p))
	}
	list, err := os.ReadDir(filepath.Join(dir, p))
	for _, e := range list {
		err = errors.Join(err, k.removeIgnoredPath(dir, p+"/"+e.Name()))
	}
	return err
}
