package gocache

import (
	"fmt"
	"os"
	"path/filepath"
)

// CreateDir lays out a new build cache, of the go command's or of a linter's like it,
// with one directory for what they keep in 256: making those, and removing
// them, takes longer than many a build. It makes dir where that is missing and
// leaves alone what is there. Where a file system has no such links, nothing
// is lost.
func CreateDir(dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, "00"), 0o700); err != nil {
		return fmt.Errorf("lay out a build cache: %w", err)
	}
	_ = link(dir) // whoever opens the cache makes what it misses
	return nil
}

// link makes the directories 01 to ff of a build cache links to 00.
func link(dir string) error {
	first := filepath.Join(dir, "01")
	if err := os.Symlink("00", first); err != nil {
		return err
	}
	for i := 2; i < 256; i++ {
		if err := os.Link(first, filepath.Join(dir, fmt.Sprintf("%02x", i))); err != nil {
			return err
		}
	}
	return nil
}
