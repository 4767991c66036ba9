//go:build !unix

package bench

import (
	"os"
	"time"
)

func processorTime() time.Duration { return 0 }

func peakMemory(*os.ProcessState) int64 { return 0 }
