//go:build !linux

package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// odd is the mode of a file that git cannot store.
const odd = 1

// errNoDir is returned if a path is not a directory.
var errNoDir = errors.New("no directory")

type dir struct{ path string }

type dirent struct {
	name string
	mode uint32
}

func openDir(path string) (*dir, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil, errNoDir
	}
	return &dir{path}, err
}

func (d *dir) close() {}

func (d *dir) names() ([]dirent, error) {
	list, err := os.ReadDir(d.path)
	all := make([]dirent, len(list))
	for i, e := range list {
		all[i] = dirent{e.Name(), mode(e.Type())}
	}
	return all, err
}

func (d *dir) whiteout(string) bool { return false }

func (d *dir) opaque(string) bool { return false }

func (d *dir) stat() (git.Stat, error) { return lstat(d.path) }

func (d *dir) lstat(name string) (git.Stat, error) { return lstat(filepath.Join(d.path, name)) }

func lstat(path string) (git.Stat, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return git.Stat{}, err
	}
	return stat(info), nil
}

// statOf returns the compared stat fields of an open file.
func statOf(f *os.File) (git.Stat, error) {
	info, err := f.Stat()
	if err != nil {
		return git.Stat{}, err
	}
	return stat(info), nil
}

// stat has no change time on this system that programs cannot set, so no file ever counts as
// unchanged.
func stat(info fs.FileInfo) git.Stat {
	return git.Stat{Changed: 1<<63 - 1, Modified: info.ModTime().UnixNano(), Size: uint32(info.Size()), Mode: mode(info.Mode())}
}

func mode(m fs.FileMode) uint32 {
	switch {
	case m.IsDir():
		return git.ModeTree
	case m&fs.ModeSymlink != 0:
		return git.ModeLink
	case !m.IsRegular():
		return odd
	case m&0o100 != 0:
		return git.ModeExec
	default:
		return git.ModeFile
	}
}
