// Package overlay mounts a tree of files over another that stays as it is:
// what is written goes to an upper layer, so a tree of any size is there at
// once and takes no space of its own.
package overlay

import (
	"errors"
	"path/filepath"
)

// Layers are the directories of an overlay, absolute and on one file system.
type Layers struct {
	Lower string // what shows where nothing was written; must not change
	Upper string // what was written
	Work  string // the kernel's own
	Dir   string // where the result is to be seen
}

// ErrNone says that overlays cannot be mounted here.
var ErrNone = errors.New("no overlay can be mounted")

// Clear unmounts the overlays at dir and below.
func Clear(dir string) error {
	all, err := Below(dir)
	for _, m := range all {
		err = errors.Join(err, Unmount(m))
	}
	return err
}

// layers returns the layers of a probe below dir.
func layers(dir string) Layers {
	return Layers{
		Lower: filepath.Join(dir, "lower"), Upper: filepath.Join(dir, "upper"),
		Work: filepath.Join(dir, "work"), Dir: filepath.Join(dir, "tree"),
	}
}
