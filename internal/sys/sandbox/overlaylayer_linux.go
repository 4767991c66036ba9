package sandbox

import (
	"io/fs"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// isWhiteout reports whether an entry represents a deleted file.
func isWhiteout(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && info.Mode()&fs.ModeCharDevice != 0 && s.Rdev == 0
}

// isOpaqueDir reports whether a directory replaces the one below it.
func isOpaqueDir(dir string) bool {
	var b [4]byte
	n, err := unix.Lgetxattr(dir, "user.overlay.opaque", b[:])
	return err == nil && n == 1 && b[0] == 'y'
}

// changeTime returns the kernel's change time, which no program can set.
func changeTime(info fs.FileInfo) time.Time {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return time.Unix(s.Ctim.Unix())
	}
	return info.ModTime()
}
