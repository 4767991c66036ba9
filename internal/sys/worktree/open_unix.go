//go:build unix

package worktree

import (
	"io/fs"
	"syscall"
)

// noFollow opens no link, and waits for nobody at a pipe.
const noFollow = syscall.O_NOFOLLOW | syscall.O_NONBLOCK

// linked reports whether a file has more than one name.
func linked(info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && st.Nlink > 1
}
