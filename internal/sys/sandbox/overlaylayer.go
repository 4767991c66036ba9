package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"
)

// OverlayLayer reads the changes that a command in a box wrote to a layer over a directory, and applies
// the permitted ones to it. The upper directory is that of an overlay mounted by a user: written
// files are there as they are, a deleted file is a character device numbered zero, and a directory
// that replaces the one below it has an attribute.
type OverlayLayer struct {
	Dir  string   // with the directories upper and work
	Tree *os.Root // the tree below
}

// MakeLayerDirs creates the directories.
func MakeLayerDirs(dir string) error {
	for _, d := range []string{"upper", "work"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			return fmt.Errorf("make a layer: %w", err)
		}
	}
	return nil
}

// ApplyChanges applies the permitted changes since a time to the tree, and returns the names of
// the others. A name may exist only in the upper directory.
func (l OverlayLayer) ApplyChanges(since time.Time, may func(name string) bool) (left []string, err error) {
	upper, err := os.OpenRoot(filepath.Join(l.Dir, "upper"))
	if err != nil {
		return nil, fmt.Errorf("read a layer: %w", err)
	}
	defer func() { _ = upper.Close() }()
	t := &overlayLayerTransfer{OverlayLayer: l, upper: upper, since: since, may: may}
	err = t.applyDir(".")
	slices.Sort(t.left)
	return slices.Compact(t.left), err
}

type overlayLayerTransfer struct {
	OverlayLayer
	upper *os.Root
	since time.Time
	may   func(string) bool
	left  []string
}

func (t *overlayLayerTransfer) applyDir(dir string) error {
	entries, err := fs.ReadDir(t.upper.FS(), dir)
	if err != nil {
		return fmt.Errorf("read a layer: %w", err)
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		info, err := e.Info()
		if err != nil {
			return fmt.Errorf("read a layer: %w", err)
		}
		switch mode := info.Mode(); {
		case isWhiteout(info):
			err = t.applyDeletion(name)
		case mode.IsDir():
			if isOpaqueDir(filepath.Join(t.Dir, "upper", filepath.FromSlash(name))) {
				err = t.deleteHidden(name)
			}
			err = errors.Join(err, t.applyDir(name))
		case changeTime(info).Before(t.since):
		case mode.IsRegular() || mode.Type() == fs.ModeSymlink:
			err = t.applyFile(name, info)
		default:
			t.left = append(t.left, name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// applyFile applies a written file or link, unless the tree has the same.
func (t *overlayLayerTransfer) applyFile(name string, info fs.FileInfo) error {
	link := info.Mode().Type() == fs.ModeSymlink
	to, data, err := "", []byte(nil), error(nil)
	if link {
		to, err = t.upper.Readlink(name)
	} else {
		data, err = t.upper.ReadFile(name)
	}
	if err != nil {
		return fmt.Errorf("read a layer: %w", err)
	}
	if t.isUnchanged(name, info, to, data) {
		return nil
	}
	if !t.may(name) {
		t.left = append(t.left, name)
		return nil
	}
	if err := t.Tree.MkdirAll(path.Dir(name), 0o755); err != nil {
		return fmt.Errorf("take over %s: %w", name, err)
	}
	if link {
		_ = t.Tree.Remove(name)
		err = t.Tree.Symlink(to, name)
	} else {
		err = t.replaceFile(name, info.Mode().Perm(), data)
	}
	if err != nil {
		return fmt.Errorf("take over %s: %w", name, err)
	}
	return nil
}

// replaceFile writes a file atomically, never through a link.
func (t *overlayLayerTransfer) replaceFile(name string, mode fs.FileMode, data []byte) error {
	part := path.Join(path.Dir(name), ".nexus-part-"+path.Base(name))
	_ = t.Tree.Remove(part)
	f, err := t.Tree.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Chmod(mode), f.Close()); err == nil {
		err = t.Tree.Rename(part, name)
	}
	if err != nil {
		_ = t.Tree.Remove(part)
	}
	return err
}

func (t *overlayLayerTransfer) isUnchanged(name string, info fs.FileInfo, to string, data []byte) bool {
	have, err := t.Tree.Lstat(name)
	if err != nil || have.Mode() != info.Mode() || have.Size() != info.Size() {
		return false
	}
	if info.Mode().Type() == fs.ModeSymlink {
		was, err := t.Tree.Readlink(name)
		return err == nil && was == to
	}
	f, err := t.Tree.Open(name)
	if err != nil {
		return false
	}
	defer func() { _ = f.Close() }()
	was, err := io.ReadAll(f)
	return err == nil && bytes.Equal(was, data)
}

// applyDeletion applies the deletion of a file or a whole directory.
func (t *overlayLayerTransfer) applyDeletion(name string) error {
	return t.forEachFile(name, func(file string) error {
		if !t.may(file) {
			t.left = append(t.left, file)
			return nil
		}
		return t.Tree.Remove(file)
	})
}

// deleteHidden deletes the lower content of a replaced directory, except for files that exist again.
func (t *overlayLayerTransfer) deleteHidden(name string) error {
	return t.forEachFile(name, func(file string) error {
		if _, err := t.upper.Lstat(file); err == nil {
			return nil
		}
		if !t.may(file) {
			t.left = append(t.left, file)
			return nil
		}
		return t.Tree.Remove(file)
	})
}

// forEachFile calls do for every file of the tree at a name and below.
func (t *overlayLayerTransfer) forEachFile(name string, do func(string) error) error {
	var files []string
	err := fs.WalkDir(t.Tree.FS(), name, func(file string, d fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err == nil && !d.IsDir():
			files = append(files, file)
		}
		return err
	})
	for _, f := range files {
		err = errors.Join(err, do(f))
	}
	if err != nil {
		return fmt.Errorf("take over %s: %w", name, err)
	}
	return nil
}

// ListNames lists the files in the layer, and the deleted ones. Files below a deleted directory are
// not listed individually.
func (l OverlayLayer) ListNames() ([]string, error) {
	upper, err := os.OpenRoot(filepath.Join(l.Dir, "upper"))
	if err != nil {
		return nil, fmt.Errorf("read a layer: %w", err)
	}
	defer func() { _ = upper.Close() }()
	var all []string
	err = fs.WalkDir(upper.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			all = append(all, name)
		}
		if errors.Is(err, fs.ErrPermission) {
			return fs.SkipDir
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read a layer: %w", err)
	}
	return all, nil
}

// DifferingNames returns those of the names that differ between the layer and the tree.
func (l OverlayLayer) DifferingNames(names []string) ([]string, error) {
	upper, err := os.OpenRoot(filepath.Join(l.Dir, "upper"))
	if err != nil {
		return nil, fmt.Errorf("read a layer: %w", err)
	}
	defer func() { _ = upper.Close() }()
	t := &overlayLayerTransfer{OverlayLayer: l, upper: upper}
	var all []string
	for _, name := range names {
		info, err := upper.Lstat(name)
		if err != nil {
			return nil, fmt.Errorf("read a layer: %w", err)
		}
		to, data := "", []byte(nil)
		switch {
		case info.Mode().Type() == fs.ModeSymlink:
			to, err = upper.Readlink(name)
		case info.Mode().IsRegular():
			data, err = upper.ReadFile(name)
		}
		if err != nil || !t.isUnchanged(name, info, to, data) {
			all = append(all, name)
		}
	}
	return all, nil
}

// RemoveExcept removes everything from the layer except for the named files. The layer must not be
// mounted.
func (l OverlayLayer) RemoveExcept(keep []string) error {
	upper, err := os.OpenRoot(filepath.Join(l.Dir, "upper"))
	if err != nil {
		return fmt.Errorf("clear a layer: %w", err)
	}
	defer func() { _ = upper.Close() }()
	kept := map[string]bool{}
	for _, k := range keep {
		for ; k != "." && k != "/" && !kept[k]; k = path.Dir(k) {
			kept[k] = true
		}
	}
	return clearLayerDir(upper, ".", kept)
}

func clearLayerDir(upper *os.Root, dir string, kept map[string]bool) error {
	entries, err := fs.ReadDir(upper.FS(), dir)
	if err != nil {
		return fmt.Errorf("clear a layer: %w", err)
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case !kept[name]:
			_ = upper.Chmod(name, 0o700) // a directory without permissions
			err = upper.RemoveAll(name)
		case e.IsDir():
			err = clearLayerDir(upper, name, kept)
		}
		if err != nil {
			return fmt.Errorf("clear a layer: %w", err)
		}
	}
	return nil
}
