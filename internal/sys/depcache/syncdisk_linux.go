package depcache

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// syncDisk waits until written files are on the disk: after a crash of the machine, the name of the
// set must not lead to empty files.
func syncDisk(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read
	return unix.Syncfs(int(f.Fd()))
}

// fileChangeStamp returns values that change when a file is written: the kernel's change time, which no
// program can set, and the inode number.
func fileChangeStamp(info os.FileInfo) (when int64, number uint64) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return info.ModTime().UnixNano(), 0
	}
	return st.Ctim.Nano(), st.Ino
}
