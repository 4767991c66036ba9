package worktree

import (
	"errors"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// odd is the mode of a file that git cannot keep.
const odd = 1

// errNoDir says that there is no directory, or something else in its place.
var errNoDir = errors.New("no directory")

// dir is an open directory.
type dir struct {
	fd   int
	path string
	file *os.File // owns fd once names were read
}

// dirent is one name of a directory, with the mode [git.Stat] would have;
// an executable counts as a file.
type dirent struct {
	name string
	mode uint32
}

// openDir opens a directory that is no link. One that its owner may not read
// is made readable: an agent's programs leave such behind.
func openDir(path string) (*dir, error) {
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
	return &dir{fd: fd, path: path}, nil
}

func (d *dir) close() {
	if d.file != nil {
		_ = d.file.Close() // nothing was written
		return
	}
	_ = unix.Close(d.fd)
}

// names lists the directory. It may be called once.
func (d *dir) names() ([]dirent, error) {
	d.file = os.NewFile(uintptr(d.fd), d.path)
	list, err := d.file.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	all := make([]dirent, len(list))
	for i, e := range list {
		all[i] = dirent{e.Name(), odd}
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

// whiteout reports whether a name of an upper layer hides one below.
func (d *dir) whiteout(name string) bool {
	var st unix.Stat_t
	err := unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	return err == nil && st.Mode&unix.S_IFMT == unix.S_IFCHR && st.Rdev == 0
}

// opaque reports whether a directory of an upper layer does not stand on the
// one below it, because it was made or moved there.
func (d *dir) opaque(name string) bool {
	var b [8]byte
	for _, attr := range []string{"trusted.overlay.opaque", "trusted.overlay.redirect"} {
		_, err := unix.Lgetxattr(d.path+"/"+name, attr, b[:])
		if err == nil || errors.Is(err, unix.ERANGE) {
			return true
		}
	}
	return false
}

func (d *dir) stat() (git.Stat, error) {
	var st unix.Stat_t
	err := unix.Fstat(d.fd, &st)
	return stat(&st), err
}

// lstat returns the stat of a name. If there is none, the error is fs.ErrNotExist.
func (d *dir) lstat(name string) (git.Stat, error) {
	var st unix.Stat_t
	err := unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	if errors.Is(err, unix.EACCES) && unix.Fchmod(d.fd, 0o700) == nil {
		err = unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	}
	if err != nil {
		return git.Stat{}, &fs.PathError{Op: "lstat", Path: d.path + "/" + name, Err: err}
	}
	return stat(&st), nil
}

func lstat(path string) (git.Stat, error) {
	var st unix.Stat_t
	if err := unix.Lstat(path, &st); err != nil {
		return git.Stat{}, &fs.PathError{Op: "lstat", Path: path, Err: err}
	}
	return stat(&st), nil
}

// statOf returns what is compared of an open file.
func statOf(f *os.File) (git.Stat, error) {
	var st unix.Stat_t
	err := unix.Fstat(int(f.Fd()), &st)
	return stat(&st), err
}

func stat(st *unix.Stat_t) git.Stat {
	return git.Stat{
		Changed: st.Ctim.Nano(), Modified: st.Mtim.Nano(),
		Inode: uint32(st.Ino), Size: uint32(st.Size), Mode: mode(st.Mode),
	}
}

func mode(m uint32) uint32 {
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
		return odd
	}
}
