package proc

import (
	"fmt"

	"golang.org/x/sys/unix"
)

// SetRlimits sets the kernel's per-process limits of a process that has not started another one yet.
// The process cannot raise them.
func SetRlimits(pid int, limits map[int]uint64) error {
	for what, most := range limits {
		var have unix.Rlimit
		if err := unix.Prlimit(pid, what, nil, &have); err != nil {
			return fmt.Errorf("read a limit: %w", err)
		}
		most = min(most, have.Max)
		if err := unix.Prlimit(pid, what, &unix.Rlimit{Cur: most, Max: most}, nil); err != nil {
			return fmt.Errorf("set a limit: %w", err)
		}
	}
	return nil
}
