package depcache

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
)

// InstalledSets returns the sets that are installed in the tree with that home, at least in part.
func (s *DependencySetStore) InstalledSets(home string) []DependencySet {
	var all []DependencySet
	for _, l := range readInstallRecord(home).Lent {
		if set, ok := s.FindSet(l.Key); ok && !slices.ContainsFunc(all, func(a DependencySet) bool { return a.Key == set.Key }) {
			all = append(all, set)
		}
	}
	return all
}

// ChangedSetFiles returns the changes of a tree in the paths of a set: the files of the set that were
// changed or removed, and the new files. Files of other sets are neither. Only regular files are
// compared.
func (s *DependencySetStore) ChangedSetFiles(home, dir, key string) (changed, added []string, err error) {
	n := readInstallRecord(home)
	var others []string
	for _, l := range n.Lent {
		if l.Key != key {
			others = append(others, l.Path)
		}
	}
	for _, l := range n.Lent {
		if l.Key != key || l.isIntact(home, dir, true) {
			continue
		}
		from := filepath.Join(s.setPath(key, "files"), filepath.FromSlash(l.Path))
		was, err := listFiles(from, l.Path, nil)
		if err != nil {
			return nil, nil, filewrite.WrapError("look at what was lent", err)
		}
		now, err := listFiles(filepath.Join(dir, filepath.FromSlash(l.Path)), l.Path, others)
		if err != nil {
			return nil, nil, filewrite.WrapError("look at what was lent", err)
		}
		for p, then := range was {
			if is, ok := now[p]; !ok || !isSameFile(then, is, s.setPath(key, "files", filepath.FromSlash(p)), filepath.Join(dir, filepath.FromSlash(p))) {
				changed = append(changed, p)
			}
		}
		for p := range now {
			if was[p] == nil {
				added = append(added, p)
			}
		}
	}
	slices.Sort(changed)
	slices.Sort(added)
	return changed, added, nil
}

// listFiles returns the files and links below a directory, by their paths in a tree.
func listFiles(dir, at string, except []string) (map[string]fs.FileInfo, error) {
	all := map[string]fs.FileInfo{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the whole directory is gone
		}
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name) // name is below dir
		p := path.Join(at, filepath.ToSlash(rel))
		switch {
		case d.IsDir() && slices.Contains(except, p):
			return fs.SkipDir
		case d.Type().IsRegular() || d.Type() == fs.ModeSymlink:
			all[p], err = d.Info()
		}
		return err
	})
	return all, err
}

// isSameFile reports whether two files have the same content.
func isSameFile(a, b fs.FileInfo, first, second string) bool {
	switch {
	case a.Mode() != b.Mode() || a.Size() != b.Size():
		return false
	case a.Mode().Type() == fs.ModeSymlink:
		x, err1 := os.Readlink(first)
		y, err2 := os.Readlink(second)
		return x == y && err1 == nil && err2 == nil
	case a.ModTime().Equal(b.ModTime()):
		return true
	}
	x, err1 := os.ReadFile(first)
	y, err2 := os.ReadFile(second)
	return bytes.Equal(x, y) && err1 == nil && err2 == nil
}

// RestoreSetFiles restores files of a tree to their state in the set.
func (s *DependencySetStore) RestoreSetFiles(dir, key string, files []string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return filewrite.WrapError("put back what was lent", err)
	}
	defer root.Close() //nolint:errcheck // what is written is closed by itself
	for _, p := range files {
		name := filepath.FromSlash(p)
		for d := path.Dir(p); strings.Contains(d, "/"); d = path.Dir(d) { // a file may be in the place of a directory
			if info, err := root.Lstat(filepath.FromSlash(d)); err == nil && !info.IsDir() {
				err = root.Remove(filepath.FromSlash(d))
				if err != nil {
					return filewrite.WrapError("put back what was lent", err)
				}
			}
		}
		err := errors.Join(root.RemoveAll(name), root.MkdirAll(filepath.Dir(name), 0o755), copyTree(root, s.setPath(key, "files", name), name))
		if err != nil {
			return filewrite.WrapError("put back what was lent", err)
		}
	}
	return nil
}
