// Package copied makes copies of a working tree, in which gates may write, with
// what is installed in it lent to them.
package copied

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// Tree copies what git tracks, or would, and lends what is installed. It
// returns what is lent.
func Tree(ctx context.Context, repo git.Repo, to string) (lent []string, err error) {
	out, err := repo.Run(ctx, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	from, err := os.OpenRoot(repo.Work)
	if err != nil {
		return nil, err
	}
	defer func() { _ = from.Close() }() // only read
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
	for _, name := range []string{"node_modules", ".venv", "venv", "vendor"} {
		info, missing := from.Stat(name)
		if _, there := into.Lstat(name); missing == nil && info.IsDir() && errors.Is(there, fs.ErrNotExist) {
			lent = append(lent, filepath.Join(repo.Work, name))
			if err := into.Symlink(filepath.Join(repo.Work, name), name); err != nil {
				return nil, err
			}
		}
	}
	return lent, nil
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

// lent are directories in which package managers put what a tree needs.
func lent() []string { return []string{"node_modules", ".venv", "venv"} }

// Lend gives a checkout the dependencies that the working tree has installed,
// and returns what must be readable for that. They are the same for both as far
// as the lock file did not change.
func Lend(from, to string) (readable []string) {
	_ = filepath.WalkDir(from, func(name string, d fs.DirEntry, err error) error { // what cannot be lent is missing, and the gates say so
		switch rel, _ := filepath.Rel(from, name); {
		case err != nil:
			return fs.SkipDir
		case !d.IsDir():
		case name != from && slices.Contains(lent(), d.Name()):
			if _, err := os.Stat(filepath.Join(to, filepath.Dir(rel))); err == nil && links(name, filepath.Join(to, rel), 1) {
				readable = append(readable, name)
			}
			return fs.SkipDir
		case name != from && (strings.HasPrefix(d.Name(), ".") || strings.Count(rel, string(filepath.Separator)) > 4):
			return fs.SkipDir
		}
		return nil
	})
	return readable
}

// links fills a directory with links to what is in another one. Those that
// lead to packages of the same repository are made anew, so that they lead to
// those of the checkout. Scopes are directories of packages.
func links(from, to string, depth int) bool {
	entries, err := os.ReadDir(from)
	if err != nil || os.Mkdir(to, 0o700) != nil {
		return false // it is tracked, and there already
	}
	for _, e := range entries {
		old, made := filepath.Join(from, e.Name()), filepath.Join(to, e.Name())
		target := old
		if text, err := os.Readlink(old); err == nil && !filepath.IsAbs(text) && outside(from, filepath.Join(from, text)) {
			target = text
		}
		if e.IsDir() && strings.HasPrefix(e.Name(), "@") && depth > 0 {
			links(old, made, depth-1)
			continue
		}
		_ = os.Symlink(target, made) // one that is not made is missing, and the gates say so
	}
	return true
}

// outside reports whether a path lies in no directory of packages.
func outside(from, name string) bool {
	for dir := from; ; dir = filepath.Dir(dir) {
		if slices.Contains(lent(), filepath.Base(dir)) {
			rel, err := filepath.Rel(dir, name)
			return err != nil || strings.HasPrefix(rel, "..")
		}
		if dir == filepath.Dir(dir) {
			return true
		}
	}
}
