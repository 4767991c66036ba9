// Package overlay mounts a writable layer over a directory that is not changed: writes go to an
// upper layer, so a tree of any size is available at once and needs no space of its own.
package overlay

import (
	"errors"
	"path/filepath"
)

// Layers are the directories of an overlay, absolute and on one file system.
type Layers struct {
	Lower string // visible where nothing was written; must not change
	Upper string // written files
	Work  string // used by the kernel
	Dir   string // mount point
}

// ErrNone is returned if overlays cannot be mounted.
var ErrNone = errors.New("no overlay can be mounted")

// UnmountAll unmounts the overlays at dir and below.
func UnmountAll(dir string) error {
	all, err := MountsBelow(dir)
	for _, m := range all {
		err = errors.Join(err, Unmount(m))
	}
	return err
}

// probeLayers returns the layers of a probe below dir.
func probeLayers(dir string) Layers {
	return Layers{
		Lower: filepath.Join(dir, "lower"), Upper: filepath.Join(dir, "upper"),
		Work: filepath.Join(dir, "work"), Dir: filepath.Join(dir, "tree"),
	}
}
