package worktree

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// modeUnsupported is the mode of a file that git cannot store.
const modeUnsupported = 1

// errNoDir is returned if a path is not a directory.
var errNoDir = errors.New("no directory")

// directoryHandle is an open directory.
type directoryHandle struct {
	fd   int
	path string
	file *os.File // owns fd after the names were read
}

// directoryEntry is one entry of a directory, with the mode as in [git.IndexFileStat]; an executable counts as a
// regular file.
type directoryEntry struct {
	name string
	mode uint32
}

// openDir opens a directory that is no link. If its owner may not read it, openDir changes its
// mode: programs of agents leave such directories behind.
func openDir(path string) (*directoryHandle, error) {
	const flags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC
	fd, err := unix.Open(path, flags, 0)
	if errors.Is(err, unix.EACCES) && unix.Chmod(path, 0o700) == nil {
		fd, err = unix.Open(path, flags, 0)
	}
	switch {
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR), errors.Is(err, unix.ELOOP):
		return nil, errNoDir
	case err != nil:
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return &directoryHandle{fd: fd, path: path}, nil
}

func (d *directoryHandle) close() {
	if d.file != nil {
		_ = d.file.Close() // nothing was written
		return
	}
	_ = unix.Close(d.fd)
}

// readNames lists the directory. It may be called only once.
func (d *directoryHandle) readNames() ([]directoryEntry, error) {
	d.file = os.NewFile(uintptr(d.fd), d.path)
	list, err := d.file.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	all := make([]directoryEntry, len(list))
	for i, e := range list {
		all[i] = directoryEntry{e.Name(), modeUnsupported}
		switch {
		case e.IsDir():
			all[i].mode = git.ModeTree
		case e.Type().IsRegular():
			all[i].mode = git.ModeFile
		case e.Type() == fs.ModeSymlink:
			all[i].mode = git.ModeLink
		}
	}
	return all, nil
}

// isWhiteout reports whether an entry of an upper layer hides one in the lower layer.
func (d *directoryHandle) isWhiteout(name string) bool {
	var st unix.Stat_t
	err := unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	return err == nil && st.Mode&unix.S_IFMT == unix.S_IFCHR && st.Rdev == 0
}

// isOpaque reports whether a directory of an upper layer replaces the one in the lower layer,
// because it was created or moved there.
func (d *directoryHandle) isOpaque(name string) bool {
	var b [8]byte
	for _, attr := range []string{"trusted.overlay.opaque", "trusted.overlay.redirect"} {
		_, err := unix.Lgetxattr(d.path+"/"+name, attr, b[:])
		if err == nil || errors.Is(err, unix.ERANGE) {
			return true
		}
	}
	return false
}

func (d *directoryHandle) stat() (git.IndexFileStat, error) {
	var st unix.Stat_t
	err := unix.Fstat(d.fd, &st)
	return toGitStat(&st), err
}

// lstat returns the stat of an entry. If it is missing, the error is fs.ErrNotExist.
func (d *directoryHandle) lstat(name string) (git.IndexFileStat, error) {
	var st unix.Stat_t
	err := unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.EACCES) && unix.Fchmod(d.fd, 0o700) == nil {
		err = unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	}
	if err != nil {
		return git.IndexFileStat{}, &fs.PathError{Op: "lstat", Path: d.path + "/" + name, Err: err}
	}
	return toGitStat(&st), nil
}

func lstat(path string) (git.IndexFileStat, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return git.IndexFileStat{}, &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	return toGitStat(&st), nil
}

// fileStat returns the compared stat fields of an open file.
func fileStat(f *os.File) (git.IndexFileStat, error) {
	var st unix.Stat_t
	err := unix.Fstat(int(f.Fd()), &st)
	return toGitStat(&st), err
}

func toGitStat(st *unix.Stat_t) git.IndexFileStat {
	return git.IndexFileStat{
		Changed: st.Ctim.Nano(), Modified: st.Mtim.Nano(),
		Inode: uint32(st.Ino), Size: uint32(st.Size), Mode: toGitMode(st.Mode),
	}
}

func toGitMode(m uint32) uint32 {
	switch m & unix.S_IFMT {
	case unix.S_IFREG:
		if m&unix.S_IXUSR != 0 {
			return git.ModeExec
		}
		return git.ModeFile
	case unix.S_IFLNK:
		return git.ModeLink
	case unix.S_IFDIR:
		return git.ModeTree
	default:
		return modeUnsupported
	}
}
