package depcache

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// settle waits until what was written is on the disk: a name that a crash of
// the machine leaves must not lead to empty files.
func settle(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	return unix.Syncfs(int(f.Fd()))
}

// change returns what tells that a file was written: the kernel's own time of
// its last change, which no program can set, and its number.
func change(info os.FileInfo) (when int64, number uint64) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return info.ModTime().UnixNano(), 0
	}
	return st.Ctim.Nano(), st.Ino
}
