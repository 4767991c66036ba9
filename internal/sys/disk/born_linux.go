package disk

import (
	"time"

	"golang.org/x/sys/unix"
)

// Born returns when a file or directory was made, which moving and touching it does not change; zero where
// nobody knows.
func Born(path string) time.Time {
	var s unix.Statx_t
	err := unix.Statx(unix.AT_FDCWD, path, unix.AT_SYMLINK_NOFOLLOW, unix.STATX_BTIME, &s)
	if err != nil || s.Mask&unix.STATX_BTIME == 0 {
		return time.Time{}
	}
	return time.Unix(s.Btime.Sec, int64(s.Btime.Nsec))
}
