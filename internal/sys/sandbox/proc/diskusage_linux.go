package proc

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// FreeDiskBytes returns the bytes that a user may still write on the disk of a directory, 0 if unknown: the
// part reserved for root does not count.
func FreeDiskBytes(dir string) int64 {
	var s unix.Statfs_t
	if unix.Statfs(dir, &s) != nil {
		return 0
	}
	return int64(s.Bavail) * s.Bsize
}

// WrittenBytes returns the bytes on disk of the files below dir that were changed since a time, and
// stops early once the sum exceeds limit. The change time is the kernel's and cannot be set back.
func WrittenBytes(dir string, since time.Time, limit int64) (sum int64) {
	since = since.Add(-time.Second) // the kernel's clock is coarse
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil //nolint:nilerr // what is gone takes no room
		}
		info, err := d.Info()
		if err != nil {
			return nil //nolint:nilerr // as above
		}
		if s, ok := info.Sys().(*syscall.Stat_t); ok && time.Unix(s.Ctim.Unix()).After(since) {
			sum += s.Blocks * 512 // the kernel's unit for all disks; holes in a file do not count
		}
		if sum > limit {
			return fs.SkipAll
		}
		return nil
	})
	return sum
}

// MachineMemory returns the machine's memory in bytes, 0 if unknown.
func MachineMemory() int64 {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	return 1024 * statusField(append([]byte("\n"), data...), "\nMemTotal:")
}
