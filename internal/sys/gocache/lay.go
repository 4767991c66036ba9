package gocache

import (
	"fmt"
	"os"
	"path/filepath"
)

// Lay lays out a new build cache, of the go command's or of a linter's like it,
// with one directory for what they keep in 256: making those, and removing
// them, takes longer than many a build. It makes dir where that is missing and
// leaves alone what is there. Where a file system has no such links, nothing
// is lost: whoever opens the cache makes the directories that it misses.
func Lay(dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, "00"), 0o700); err != nil {
		return fmt.Errorf("lay out a build cache: %w", err)
	}
	first := filepath.Join(dir, "01")
	if os.Symlink("00", first) != nil {
		return nil
	}
	for i := 2; i < 256; i++ {
		if os.Link(first, filepath.Join(dir, fmt.Sprintf("%02x", i))) != nil {
			return nil
		}
	}
	return nil
}
