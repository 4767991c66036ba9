//go:build unix

package apikey

import (
	"io/fs"
	"os"
	"syscall"
)

// isOwnedByUser reports whether a file belongs to the user of this process.
func isOwnedByUser(info fs.FileInfo) bool {
	s, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(s.Uid) == os.Geteuid()
}

// openFile opens a file without following a link, and without waiting for a writer if it is a
// pipe.
func openFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
}
