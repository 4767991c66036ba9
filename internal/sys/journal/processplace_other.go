//go:build !linux

package journal

import (
	"errors"
	"os"
	"syscall"
)

// callingProcessPlace returns the place of the calling process.
func callingProcessPlace() processIDNamespace {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	return processIDNamespace{host: host}
}

// processStartTime reports whether a process runs. Its start time is unknown on this system.
func processStartTime(pid int) (start uint64, running bool, err error) {
	p, err := os.FindProcess(pid)
	if err != nil {
		return 0, false, nil
	}
	err = p.Signal(syscall.Signal(0))
	if errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH) {
		return 0, false, nil
	}
	return 0, true, nil
}
