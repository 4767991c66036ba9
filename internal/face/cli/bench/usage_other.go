//go:build !unix

package bench

import (
	"os"
	"time"
)

func spent() time.Duration { return 0 }

func peak(*os.ProcessState) int64 { return 0 }
