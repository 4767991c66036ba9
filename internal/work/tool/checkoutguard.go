package tool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/ignore"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/files"
)

// RefusedSuffix is the suffix of a file that an agent's command wrote though no agent may: the text stays,
// and no program reads it as its configuration.
const RefusedSuffix = ".refused"

// CheckoutGuard keeps commands from changing what no agent may write in a person's own checkout. Git cannot
// put such files back there without the person's own changes, so the guard has their text.
type CheckoutGuard struct {
	dir      string
	readOnly bool                     // commands see [CheckoutGuard.ReadOnlyPaths] read-only
	found    map[string]protectedPath // by name
}

// protectedPath is a file, a link or a directory that no agent may write.
type protectedPath struct {
	print string // differs if it does; empty for a file that is too large
	link  string // target of a link
	mode  fs.FileMode
	data  []byte
}

// Limits of what is put back: configuration is small, and some tools keep whole trees beside theirs.
const (
	maxProtectedFile  = 1 << 20 // bytes
	maxProtectedPaths = 2000
)

// NewCheckoutGuard returns a guard of the protected files that a directory has now. ReadOnly reports whether
// the sandbox shows [CheckoutGuard.ReadOnlyPaths] read-only.
func NewCheckoutGuard(dir string, readOnly bool) (*CheckoutGuard, error) {
	g := &CheckoutGuard{dir: dir, readOnly: readOnly}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	names, err := g.protectedNames(root)
	if err != nil {
		return nil, err
	}
	g.found = map[string]protectedPath{}
	for _, name := range names {
		if g.found[name], err = readProtected(root, name); err != nil {
			return nil, err
		}
	}
	return g, nil
}

// ReadOnlyPaths returns the paths that a sandbox with mounts can show read-only: directories of which
// nothing may be written, and files outside of these. A link is no such path.
func (g *CheckoutGuard) ReadOnlyPaths() []string {
	var all []string
	for name, p := range g.found {
		if !p.mode.IsRegular() && !p.mode.IsDir() {
			continue
		}
		if parent := path.Dir(name); parent == "." || !isProtectedDir(parent) {
			all = append(all, filepath.Join(g.dir, filepath.FromSlash(name)))
		}
	}
	slices.Sort(all)
	return all
}

// Undo puts protected files back after a command, and returns their names. What the command wrote to them
// is in files with [RefusedSuffix].
func (g *CheckoutGuard) Undo(context.Context) (undone []string, err error) {
	root, err := os.OpenRoot(g.dir)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	names, err := g.protectedNames(root)
	if err != nil {
		return nil, err
	}
	for name := range g.found {
		names = append(names, name)
	}
	slices.Sort(names) // a directory comes before its files
	for _, name := range slices.Compact(names) {
		known, had := g.found[name]
		now := pathFingerprint(root, name)
		switch {
		case had && (known.print == "" || now == known.print):
			continue
		case g.isReadOnly(name): // the person changed it
			continue
		case !had && !exists(root, name): // its directory was moved aside
			continue
		}
		if err := g.restore(root, name, known, had); err != nil {
			return undone, fmt.Errorf("put back %s: %w", name, err)
		}
		undone = append(undone, name)
	}
	return undone, nil
}

// isReadOnly reports whether no command can have changed a path: it is at the root of the directory, or below
// such a path. The parent of any other could have been renamed.
func (g *CheckoutGuard) isReadOnly(name string) bool {
	top, _, _ := strings.Cut(name, "/")
	p, had := g.found[top]
	return g.readOnly && had && (p.mode.IsRegular() || p.mode.IsDir())
}

// restore moves what a command wrote aside, and writes what was there before.
func (g *CheckoutGuard) restore(root *os.Root, name string, known protectedPath, had bool) error {
	if info, err := root.Lstat(name); err == nil && (!had || !known.mode.IsDir() || !info.IsDir()) {
		aside := name + RefusedSuffix
		for n := 2; exists(root, aside); n++ { // an earlier one is kept
			aside = fmt.Sprintf("%s.%d%s", name, n, RefusedSuffix)
		}
		if err := root.Rename(name, aside); err != nil {
			return err
		}
	}
	switch {
	case !had:
		return nil
	case known.mode.IsDir():
		return root.MkdirAll(name, known.mode.Perm())
	case known.link != "":
		return root.Symlink(known.link, name)
	}
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	err := root.WriteFile(name, known.data, known.mode.Perm())
	return errors.Join(err, root.Chmod(name, known.mode.Perm()))
}

// protectedNames returns the paths that no agent may write, of the directories that git does not ignore.
// Those paths themselves may be ignored: programs read their configuration all the same.
func (g *CheckoutGuard) protectedNames(root *os.Root) ([]string, error) {
	var all []string
	add := func(dir string) error {
		entries, err := fs.ReadDir(root.FS(), dir)
		for _, e := range entries {
			if name := path.Join(dir, e.Name()); isGuarded(name) {
				all = append(all, name)
			}
		}
		return err
	}
	var failed error
	none := files.HiddenPathRules{Kept: &ignore.IgnoreSet{}} // they hide nothing from this search
	walked := none.WalkUnignored(root, ".", func(name string, d fs.DirEntry) bool {
		if d.IsDir() && !isProtectedDir(name) {
			failed = errors.Join(failed, add(name))
		}
		return true
	})
	top := add(".")
	for _, name := range slices.Clone(all) {
		if info, err := root.Lstat(name); err == nil && info.IsDir() {
			inside := fs.WalkDir(root.FS(), name, func(file string, _ fs.DirEntry, err error) error {
				if len(all) >= maxProtectedPaths {
					return fs.SkipAll
				}
				if err == nil && file != name && isGuarded(file) {
					all = append(all, file)
				}
				return err
			})
			failed = errors.Join(failed, inside)
		}
	}
	return all, errors.Join(walked, top, failed)
}

// isGuarded reports whether a path is protected: git's own files are so by the sandbox.
func isGuarded(name string) bool {
	return path.Base(name) != ".git" && !hasRefusedPart(name) && (isProtected(name) || isProtectedDir(name))
}

// hasRefusedPart reports whether a path was moved aside, or is in a directory that was.
func hasRefusedPart(name string) bool {
	for ; name != "."; name = path.Dir(name) {
		if path.Ext(name) == RefusedSuffix {
			return true
		}
	}
	return false
}

// isProtectedDir reports whether no agent may write any file of a directory.
func isProtectedDir(name string) bool { return ProtectedFileReason(name+"/any") != nil }

// readProtected returns a protected path as it is now.
func readProtected(root *os.Root, name string) (p protectedPath, err error) {
	info, err := root.Lstat(name)
	if err != nil {
		return p, err
	}
	p.mode = info.Mode()
	switch {
	case p.mode&fs.ModeSymlink != 0:
		p.link, err = root.Readlink(name)
	case p.mode.IsRegular() && info.Size() > maxProtectedFile:
		return p, nil
	case p.mode.IsRegular():
		p.data, err = root.ReadFile(name)
	}
	p.print = pathFingerprint(root, name)
	return p, err
}

// pathFingerprint is [fileFingerprint], which is equal for a directory with other files.
func pathFingerprint(root *os.Root, name string) string {
	if info, err := root.Lstat(name); err == nil && info.IsDir() {
		return info.Mode().String()
	}
	return fileFingerprint(root, name)
}

func exists(root *os.Root, name string) bool {
	_, err := root.Lstat(name)
	return err == nil
}
