package disk

import "golang.org/x/sys/unix"

// Room reports whether the disk that holds dir has no space left, and whether
// it cannot be written at all. What cannot be asked has room.
func Room(dir string) (full, readOnly bool) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return false, false
	}
	return s.Bavail*uint64(s.Bsize) < 1<<16, s.Flags&unix.ST_RDONLY != 0
}
