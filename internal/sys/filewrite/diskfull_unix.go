//go:build unix

package filewrite

import (
	"errors"
	"syscall"
)

// isDiskFull reports whether err means a full disk or an exceeded quota.
func isDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
