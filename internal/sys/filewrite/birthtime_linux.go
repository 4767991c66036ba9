package filewrite

import (
	"time"

	"golang.org/x/sys/unix"
)

// BirthTime returns the creation time of a file or directory, which moving and touching do not change;
// zero if unknown.
func BirthTime(path string) time.Time {
	var s unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &s)
	if err != nil || s.Mask&unix.STATX_BTIME == 0 {
		return time.Time{}
	}
	return time.Unix(s.Btime.Sec, int64(s.Btime.Nsec))
}
