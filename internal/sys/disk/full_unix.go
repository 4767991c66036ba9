//go:build unix

package disk

import (
	"errors"
	"syscall"
)

// full reports whether err says that the disk has no room.
func full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }
