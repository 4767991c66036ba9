package gocache

import (
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/nexus-ai-builder/nexus/internal/sys/disk"
)

// Blanks are build caches that hold nothing, but are laid out: where its cache
// is another program, the go command makes 256 directories in GOCACHE all the
// same, which takes longer than many a build, and nobody puts anything there.
// Several processes may use one directory of them.
type Blanks struct {
	Dir string // where they are kept; made when needed
}

// kept is how many blanks are kept at most.
const kept = 16

// Take moves a blank to a path that is not there yet. Where none is kept it does
// nothing, as the go command makes one. What is no longer blank is removed:
// whoever had it may not leave anything to others.
func (b Blanks) Take(to string) error {
	all, err := os.ReadDir(b.Dir)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return disk.Fail("lay out a build cache", err)
	}
	for _, d := range all {
		err := os.Rename(filepath.Join(b.Dir, d.Name()), to)
		if errors.Is(err, os.ErrNotExist) {
			continue // somebody else took it
		}
		if err != nil {
			return disk.Fail("lay out a build cache", err)
		}
		if blank(to) {
			return nil
		}
		if err := os.RemoveAll(to); err != nil {
			return disk.Fail("lay out a build cache", err)
		}
	}
	return nil
}

// Give keeps a build cache for others, if it is blank and there are not enough.
// What stays where it is is its owner's to remove.
func (b Blanks) Give(from string) error {
	if !blank(from) {
		return nil
	}
	if err := os.MkdirAll(b.Dir, 0o700); err != nil {
		return disk.Fail("keep a build cache", err)
	}
	if all, err := os.ReadDir(b.Dir); err != nil || len(all) >= kept {
		return disk.Fail("keep a build cache", err)
	}
	return disk.Fail("keep a build cache", os.Rename(from, filepath.Join(b.Dir, rand.Text())))
}

// blank reports whether a directory is a build cache that holds nothing: a text
// that explains it, and 256 directories without an entry.
func blank(dir string) bool {
	if all, err := os.ReadDir(dir); err != nil || len(all) != 257 {
		return false
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer root.Close() //nolint:errcheck // only read
	if info, err := root.Lstat("README"); err != nil || !info.Mode().IsRegular() {
		return false
	}
	for i := range 256 {
		name := fmt.Sprintf("%02x", i)
		info, err := root.Lstat(name)
		if err != nil || !info.IsDir() || info.Mode().Perm()&0o700 != 0o700 {
			return false
		}
		if in, err := os.ReadDir(filepath.Join(dir, name)); err != nil || len(in) > 0 {
			return false
		}
	}
	return true
}
