//go:build !linux

package worktree

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// modeUnsupported is the mode of a file that git cannot store.
const modeUnsupported = 1

// errNoDir is returned if a path is not a directory.
var errNoDir = errors.New("no directory")

type directoryHandle struct{ path string }

type directoryEntry struct {
	name string
	mode uint32
}

func openDir(path string) (*directoryHandle, error) {
	info, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil, errNoDir
	}
	return &directoryHandle{path}, err
}

func (d *directoryHandle) close() {}

func (d *directoryHandle) readNames() ([]directoryEntry, error) {
	list, err := os.ReadDir(d.path)
	all := make([]directoryEntry, len(list))
	for i, e := range list {
		all[i] = directoryEntry{e.Name(), toGitMode(e.Type())}
	}
	return all, err
}

func (d *directoryHandle) isWhiteout(string) bool { return false }

func (d *directoryHandle) isOpaque(string) bool { return false }

func (d *directoryHandle) stat() (git.IndexFileStat, error) { return lstat(d.path) }

func (d *directoryHandle) lstat(name string) (git.IndexFileStat, error) {
	return lstat(filepath.Join(d.path, name))
}

func lstat(path string) (git.IndexFileStat, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return git.IndexFileStat{}, err
	}
	return toGitStat(info), nil
}

// fileStat returns the compared stat fields of an open file.
func fileStat(f *os.File) (git.IndexFileStat, error) {
	info, err := f.Stat()
	if err != nil {
		return git.IndexFileStat{}, err
	}
	return toGitStat(info), nil
}

// toGitStat has no change time on this system that programs cannot set, so no file ever counts as
// unchanged.
func toGitStat(info fs.FileInfo) git.IndexFileStat {
	return git.IndexFileStat{Changed: 1<<63 - 1, Modified: info.ModTime().UnixNano(), Size: uint32(info.Size()), Mode: toGitMode(info.Mode())}
}

func toGitMode(m fs.FileMode) uint32 {
	switch {
	case m.IsDir():
		return git.ModeTree
	case m&fs.ModeSymlink != 0:
		return git.ModeLink
	case !m.IsRegular():
		return modeUnsupported
	case m&0o100 != 0:
		return git.ModeExec
	default:
		return git.ModeFile
	}
}
