//go:build unix

package bench

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// processorTime returns the processor time of this process and of all children that it waited for.
func processorTime() time.Duration {
	var all time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			all += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return all
}

// peakMemory returns the peak memory of a process, in bytes.
func peakMemory(s *os.ProcessState) int64 {
	u, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(u.Maxrss) //nolint:unconvert // 32 bits on some systems
	}
	return int64(u.Maxrss) << 10 //nolint:unconvert // 32 bits on some systems
}
