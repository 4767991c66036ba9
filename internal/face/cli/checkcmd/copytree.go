package checkcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/depcache"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// copyTree copies the files that git tracks, or would track, and links the installed
// dependencies. It returns the linked directories.
func copyTree(ctx context.Context, repo git.Repo, to string) (lent []string, err error) {
	out, err := repo.Run(ctx, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	from, err := os.OpenRoot(repo.Work)
	if err != nil {
		return nil, err
	}
	defer func() { _ = from.Close() }() // read-only
	into, err := os.OpenRoot(to)
	if err != nil {
		return nil, err
	}
	defer func() { _ = into.Close() }() // every write was checked
	for name := range strings.SplitSeq(out, "\x00") {
		if name == "" {
			continue
		}
		if err := copyFile(from, into, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	return lendInstalled(repo.Work, to), nil
}

// Limits of the ignored files that are copied.
const (
	mostIgnored = 20_000
	mostBytes   = 256 << 20
)

// copyIgnored copies files that git ignores, within the limits and except for linked
// dependencies: the project may need them to build.
func copyIgnored(ctx context.Context, repo git.Repo, to string) error {
	out, err := repo.Run(ctx, "ls-files", "-z", "--others", "--ignored", "--exclude-standard")
	if err != nil {
		return err
	}
	names := strings.Split(out, "\x00")
	return copyFiles(repo.Work, to, names)
}

// copyAll copies a directory without git, within the same limits, and links the installed
// dependencies. It returns the linked directories.
func copyAll(from, to string) (lent []string, err error) {
	var names []string
	err = filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == from {
			return err
		}
		if _, is := installedAt(name); d.IsDir() && (is || d.Name() == ".git") {
			return fs.SkipDir
		}
		if rel, err := filepath.Rel(from, name); err == nil && !d.IsDir() {
			names = append(names, filepath.ToSlash(rel))
		}
		return nil
	})
	if err == nil {
		err = copyFiles(from, to, names)
	}
	return lendInstalled(from, to), err
}

// copyFiles copies files within the limits, and skips files that exist.
func copyFiles(dir, to string, names []string) error {
	from, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }() // read-only
	into, err := os.OpenRoot(to)
	if err != nil {
		return err
	}
	defer func() { _ = into.Close() }() // every write was checked
	files, bytes := 0, int64(0)
	for _, name := range names {
		info, err := from.Lstat(name)
		if name == "" || err != nil || isInInstalled(dir, name) {
			continue
		}
		if _, err := into.Lstat(name); err == nil {
			continue
		}
		files++
		if bytes += info.Size(); files > mostIgnored || bytes > mostBytes {
			return nil
		}
		if err := copyFile(from, into, name); err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, fs.ErrPermission) {
			return err
		}
	}
	return nil
}

// isInInstalled reports whether a file is inside a linked directory.
func isInInstalled(root, name string) bool {
	for dir := filepath.Dir(filepath.Join(root, filepath.FromSlash(name))); len(dir) > len(root); dir = filepath.Dir(dir) {
		if _, is := installedAt(dir); is {
			return true
		}
	}
	return false
}

func copyFile(from, into *os.Root, name string) error {
	info, err := from.Lstat(name)
	if err != nil {
		return err
	}
	if err := into.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := from.Readlink(name)
		if err != nil {
			return err
		}
		return into.Symlink(target, name)
	case !info.Mode().IsRegular():
		return nil // a module of another repository
	}
	data, err := from.ReadFile(name)
	if err != nil {
		return err
	}
	return into.WriteFile(name, data, info.Mode().Perm()|0o600)
}

// installedAt returns the kind of dependency directory that dir is.
func installedAt(dir string) (stack.DependencyDir, bool) {
	for _, s := range stack.AllStacks() {
		for _, p := range s.Lent {
			if !strings.HasSuffix(filepath.ToSlash(dir), "/"+p.Dir) {
				continue
			}
			if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(p.With))); err == nil {
				return p, true
			}
		}
	}
	return stack.DependencyDir{}, false
}

// lendInstalled links the installed dependencies of the working tree into a checkout, and returns
// their directories. They fit both trees while the lock file is unchanged. Tracked files are
// already there.
func lendInstalled(from, to string) (lent []string) {
	// Unlinked dependencies are missing, and the gates report that.
	_ = filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(from, name) // name is below from
		switch p, is := installedAt(name); {
		case err != nil:
			return fs.SkipDir
		case !d.IsDir() || name == from:
			return nil
		case is:
			if lendDir(p, from, to, rel) {
				lent = append(lent, name)
			}
			return fs.SkipDir
		case strings.HasPrefix(d.Name(), ".") || strings.Count(rel, string(filepath.Separator)) > 4:
			return fs.SkipDir
		}
		return nil
	})
	return lent
}

// installedFingerprint returns a value that changes when a package manager changes the directories that
// [lendInstalled] links.
func installedFingerprint(from string) string {
	var b strings.Builder
	// Unreadable directories are not linked.
	_ = filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error {
		switch p, is := installedAt(name); {
		case err != nil:
			return fs.SkipDir
		case !d.IsDir() || name == from:
			return nil
		case is:
			for _, within := range []string{"", p.With, ".package-lock.json", "lib/*/site-packages", "*/*/gems"} {
				// The patterns are valid.
				found, _ := filepath.Glob(filepath.Join(name, filepath.FromSlash(within)))
				for _, one := range found {
					if info, err := os.Stat(one); err == nil {
						fmt.Fprintf(&b, "%s %d\n", one, info.ModTime().UnixNano())
					}
				}
			}
			return fs.SkipDir
		case strings.HasPrefix(d.Name(), ".") || strings.Count(name[len(from):], string(filepath.Separator)) > 3:
			return fs.SkipDir
		}
		return nil
	})
	return b.String()
}

// lendDir links one directory into a checkout, unless it exists there or its parent is missing.
func lendDir(p stack.DependencyDir, from, to, rel string) bool {
	made := filepath.Join(to, rel)
	around := strings.TrimSuffix(made, string(filepath.Separator)+filepath.FromSlash(p.Dir))
	if _, err := os.Stat(around); err != nil || os.MkdirAll(filepath.Dir(made), 0o700) != nil {
		return false
	}
	if !p.Copies {
		return linkEntries(filepath.Join(from, rel), made, 1)
	}
	if _, err := os.Lstat(made); err == nil {
		return false
	}
	return depcache.CopyPaths(from, to, filepath.ToSlash(rel)) == nil
}

// linkEntries fills a directory with links to the entries of another one. Links to packages of the same
// repository are recreated so that they point into the checkout. Scopes are directories of
// packages.
func linkEntries(from, to string, depth int) bool {
	entries, err := os.ReadDir(from)
	if err != nil || os.Mkdir(to, 0o700) != nil {
		return false // it is tracked, and already there
	}
	for _, e := range entries {
		old, made := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		target := old
		if text, err := os.Readlink(old); err == nil && !filepath.IsAbs(text) && isOutsidePackages(from, filepath.Join(from, text)) {
			target = text
		}
		if e.IsDir() && strings.HasPrefix(e.Name(), "@") && depth > 0 {
			linkEntries(old, made, depth-1)
			continue
		}
		_ = os.Symlink(target, made) // a missing link is reported by the gates
	}
	return true
}

// isOutsidePackages reports whether a path is in no dependency directory around from.
func isOutsidePackages(from, name string) bool {
	for dir := from; ; dir = filepath.Dir(dir) {
		if _, is := installedAt(dir); is {
			rel, err := filepath.Rel(dir, name)
			return err != nil || strings.HasPrefix(rel, "..")
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}
