//go:build unix

package disk

import (
	"errors"
	"syscall"
)

// full reports whether err means a full disk or an exceeded quota.
func full(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }
