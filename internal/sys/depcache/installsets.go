package depcache

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree/overlay"
)

// treeInstallRecord lists the paths that are installed in a tree. It is stored in the tree's home.
type treeInstallRecord struct {
	Lent []installedPath `json:"lent"`
}

// installedPath is one path of a set in a tree.
type installedPath struct {
	Key  string `json:"key"`
	Path string `json:"path"`
	At   string `json:"at,omitzero"` // directory in the home with the overlay; empty for a copy
	Seen string `json:"seen"`        // fingerprint at installation
}

func readInstallRecord(home string) treeInstallRecord {
	var n treeInstallRecord
	data, err := os.ReadFile(filepath.Join(home, "lent.json"))
	if err != nil || json.Unmarshal(data, &n) != nil {
		return treeInstallRecord{}
	}
	return n
}

func (n treeInstallRecord) writeFile(home string) error {
	data, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return filewrite.ReplaceFile(filepath.Join(home, "lent.json"), data)
}

// InstallSets installs the paths of sets in the tree at dir, whose home is a directory beside it,
// and removes all other installed sets. Sets that are already installed are kept; with fresh, only
// if they were not written since. No process may use the tree meanwhile.
func (s *DependencySetStore) InstallSets(ctx context.Context, home, dir string, sets []DependencySet, fresh bool) error {
	n := readInstallRecord(home)
	plan := orderSetPaths(sets)
	if n.matchesPlan(plan) && !slices.ContainsFunc(n.Lent, func(l installedPath) bool { return !l.isIntact(home, dir, fresh) }) {
		return nil
	}
	if err := s.uninstallAll(home, dir, n); err != nil {
		return err
	}
	n = treeInstallRecord{}
	for _, p := range plan {
		err := filewrite.WithSharedLock(ctx, s.lockPath(p.set.Key), func(context.Context) error {
			if _, ok := s.FindSet(p.set.Key); !ok {
				return fmt.Errorf("depcache: %s was swept", p.set.Key)
			}
			_ = filewrite.WriteFile(s.setPath(p.set.Key, "lent"), nil) // its time is that of the last use; errors do not matter
			l := installedPath{Key: p.set.Key, Path: p.path}
			n.Lent = append(n.Lent, l)
			if err := n.writeFile(home); err != nil { // before the changes, so that a crash cannot lose it
				return err
			}
			l, err := s.installPath(home, dir, p.set, l, len(n.Lent))
			if err != nil {
				return err
			}
			n.Lent[len(n.Lent)-1] = l
			return nil
		})
		if err != nil {
			return errors.Join(filewrite.WrapError("prepare a worktree", err), s.uninstallAll(home, dir, n))
		}
	}
	for i, l := range n.Lent { // now: a path may be within another
		var err error
		if n.Lent[i].Seen, err = dirFingerprint(l.writeDir(home, dir)); err != nil {
			return errors.Join(filewrite.WrapError("prepare a worktree", err), s.uninstallAll(home, dir, n))
		}
	}
	return n.writeFile(home)
}

// plannedInstallPath is one path of a set to be installed in a tree.
type plannedInstallPath struct {
	set  DependencySet
	path string
}

// orderSetPaths orders the paths of sets so that a path within another comes after it: a mounted overlay
// is never written over or removed. If several sets have the same path, the last one is used.
func orderSetPaths(sets []DependencySet) []plannedInstallPath {
	var all []plannedInstallPath
	for _, set := range sets {
		for _, p := range set.Paths {
			all = append(slices.DeleteFunc(all, func(o plannedInstallPath) bool { return o.path == p }), plannedInstallPath{set, p})
		}
	}
	slices.SortStableFunc(all, func(a, b plannedInstallPath) int {
		return cmp.Compare(strings.Count(a.path, "/"), strings.Count(b.path, "/"))
	})
	return all
}

// writeDir returns the directory with the changes to the path.
func (l installedPath) writeDir(home, dir string) string {
	if l.At != "" {
		return filepath.Join(home, l.At, "upper")
	}
	return filepath.Join(dir, filepath.FromSlash(l.Path))
}

// matchesPlan reports whether exactly these paths are installed.
func (n treeInstallRecord) matchesPlan(plan []plannedInstallPath) bool {
	return slices.EqualFunc(n.Lent, plan, func(l installedPath, p plannedInstallPath) bool {
		return l.Key == p.set.Key && l.Path == p.path && l.Seen != ""
	})
}

// isIntact reports whether an installed path still exists, and with fresh, is unchanged.
func (l installedPath) isIntact(home, dir string, fresh bool) bool {
	place := filepath.Join(dir, filepath.FromSlash(l.Path))
	if l.At != "" {
		if on, err := overlay.IsMounted(place); err != nil || !on {
			return false
		}
	} else if _, err := os.Lstat(place); err != nil {
		return false
	}
	if !fresh {
		return true
	}
	seen, err := dirFingerprint(l.writeDir(home, dir))
	return err == nil && seen == l.Seen
}

// uninstallAll removes all installed paths.
func (s *DependencySetStore) uninstallAll(home, dir string, n treeInstallRecord) error {
	if len(n.Lent) == 0 {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return filewrite.WrapError("take back what was lent", err)
	}
	defer root.Close() //nolint:errcheck // nothing is written through it
	mounted, err := overlay.MountsBelow(dir)
	if err != nil {
		return filewrite.WrapError("take back what was lent", err)
	}
	for _, l := range slices.Backward(n.Lent) {
		place := filepath.Join(dir, filepath.FromSlash(l.Path))
		if slices.Contains(mounted, place) {
			if err := overlay.Unmount(place); err != nil {
				return filewrite.WrapError("take back what was lent", err)
			}
		}
		if err := removeAll(root, place, l.Path); err != nil {
			return filewrite.WrapError("take back what was lent", err)
		}
	}
	if err := filewrite.RemoveAll(filepath.Join(home, "lent")); err != nil {
		return filewrite.WrapError("take back what was lent", err)
	}
	return treeInstallRecord{}.writeFile(home)
}

// removeAll removes a path of a tree without following a link out of it.
func removeAll(root *os.Root, place, p string) error {
	err := root.RemoveAll(filepath.FromSlash(p))
	if errors.Is(err, fs.ErrPermission) { // a directory without permission for its owner
		if real, err := filepath.EvalSymlinks(filepath.Dir(place)); err != nil || real != filepath.Dir(place) {
			return errors.Join(pathError(p, "a link is in its way"), err)
		}
		return filewrite.RemoveAll(place)
	}
	return err
}

// installPath installs one path of a set in a tree.
func (s *DependencySetStore) installPath(home, dir string, set DependencySet, l installedPath, i int) (installedPath, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return l, err
	}
	defer root.Close() //nolint:errcheck // what is written is closed by itself
	name, from := filepath.FromSlash(l.Path), s.setPath(set.Key, "files", filepath.FromSlash(l.Path))
	place := filepath.Join(dir, name)
	if err := removeAll(root, place, l.Path); err != nil {
		return l, err
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return l, pathError(l.Path, err.Error())
	}
	info, err := os.Lstat(from)
	if err != nil {
		return l, err
	}
	if info.IsDir() && !s.Copy {
		at := filepath.Join("lent", strconv.Itoa(i))
		switch err := mountLayer(root, name, from, filepath.Join(home, at)); {
		case err == nil:
			l.At = at
		case !errors.Is(err, overlay.ErrNone):
			return l, err
		}
	}
	if l.At == "" {
		if err := copyTree(root, from, name); err != nil {
			return l, err
		}
	}
	return l, replaceTreePathInFiles(root, s.setPath(set.Key, "files"), set, l.Path, dir)
}

// mountLayer mounts an overlay, stored in at, over the directory from, at a name of the tree.
func mountLayer(root *os.Root, name, from, at string) error {
	l := overlay.Layers{Lower: from, Upper: filepath.Join(at, "upper"), Work: filepath.Join(at, "work")}
	for _, d := range []string{l.Upper, l.Work} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return err
		}
	}
	if info, err := os.Lstat(from); err == nil {
		_ = os.Chmod(l.Upper, info.Mode().Perm()) // the mount's root has the mode of the upper directory
	}
	if err := root.Mkdir(name, 0o755); err != nil {
		return err
	}
	f, err := root.Open(name) // the open file, in case the name is changed meanwhile
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only names the place
	l.Dir = "/proc/self/fd/" + strconv.Itoa(int(f.Fd()))
	if err := overlay.MountOverlay(l); err != nil {
		return errors.Join(err, root.Remove(name), filewrite.RemoveAll(at))
	}
	return nil
}

// replaceTreePathInFiles replaces the path of the original tree by that of this tree in the bound files.
func replaceTreePathInFiles(root *os.Root, files string, set DependencySet, p, dir string) error {
	for _, b := range set.Bound {
		if b != p && !strings.HasPrefix(b, p+"/") {
			continue
		}
		from := filepath.Join(files, filepath.FromSlash(b))
		info, err := os.Lstat(from)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		data = bytes.ReplaceAll(data, []byte(set.Root), []byte(dir))
		name := filepath.FromSlash(b)
		if err := root.Remove(name); err != nil {
			return err
		}
		f, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm())
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		if err = errors.Join(err, f.Close(), root.Chtimes(name, info.ModTime(), info.ModTime())); err != nil {
			return err
		}
	}
	return nil
}

// dirFingerprint returns a text that changes as soon as a file in the directory is written.
func dirFingerprint(dir string) (string, error) {
	sum := sha256.New()
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name) // name is below dir
		if rel == "." && info.IsDir() {
			return nil // mounting changes it
		}
		when, number := fileChangeStamp(info)
		_, err = fmt.Fprintf(sum, "%q %o %d %d %d\n", rel, info.Mode(), info.Size(), when, number)
		return err
	})
	return hex.EncodeToString(sum.Sum(nil)), err
}

// copyTree copies a file or a directory to a name of a tree.
func copyTree(root *os.Root, from, name string) error {
	type made struct {
		name string
		info fs.FileInfo
	}
	var dirs []made
	err := filepath.WalkDir(from, func(at string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(from, at) // at is below from
		to := filepath.Join(name, rel)
		info, err := d.Info()
		switch {
		case err != nil:
			return err
		case d.IsDir():
			dirs = append(dirs, made{to, info})
			return root.Mkdir(to, 0o700)
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(at)
			if err != nil {
				return err
			}
			return root.Symlink(target, to)
		case info.Mode().IsRegular():
			return copyFile(root, at, to, info)
		default:
			return nil // a socket or a pipe cannot be copied
		}
	})
	for _, d := range slices.Backward(dirs) { // inner directories first: an outer one may get a mode without access
		if err == nil {
			err = errors.Join(root.Chmod(d.name, d.info.Mode().Perm()), root.Chtimes(d.name, d.info.ModTime(), d.info.ModTime()))
		}
	}
	return err
}

func copyFile(root *os.Root, from, to string, info fs.FileInfo) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // only read
	out, err := root.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = out.ReadFrom(in) // by reference if the file system can
	return errors.Join(err, out.Close(), root.Chmod(to, info.Mode().Perm()), root.Chtimes(to, info.ModTime(), info.ModTime()))
}

// CopyPaths copies paths of a directory into files, for a set. A missing path is an
// fs.ErrNotExist.
func CopyPaths(dir, files string, paths ...string) error {
	root, err := os.OpenRoot(files)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // what is written is closed by itself
	for _, p := range paths {
		if err := root.MkdirAll(path.Dir(p), 0o700); err != nil {
			return err
		}
		if err := copyTree(root, filepath.Join(dir, filepath.FromSlash(p)), filepath.FromSlash(p)); err != nil {
			return err
		}
	}
	return nil
}
