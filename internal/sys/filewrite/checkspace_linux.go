package filewrite

import "golang.org/x/sys/unix"

// CheckSpace reports whether the disk of dir is full, and whether it is read-only. If unknown, both are
// false.
func CheckSpace(dir string) (full, readOnly bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return false, false
	}
	return s.Bavail*uint64(s.Bsize) < 1<<16, s.Flags&unix.ST_RDONLY != 0
}
