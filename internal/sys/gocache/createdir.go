package gocache

import (
	"fmt"
	"os"
	"path/filepath"
)

// CreateBuildCacheDir creates a new build cache, of the go command or of a linter with the same layout, with
// one real directory instead of 256: making and removing 256 takes longer than many builds. It
// creates dir if it is missing and does not change an existing cache. On file systems without such
// links, nothing is lost.
func CreateBuildCacheDir(dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, "00"), 0o700); err != nil {
		return fmt.Errorf("lay out a build cache: %w", err)
	}
	_ = linkDirs(dir) // the go command makes missing directories
	return nil
}

// linkDirs links the directories 01 to ff of a build cache to 00.
func linkDirs(dir string) error {
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
