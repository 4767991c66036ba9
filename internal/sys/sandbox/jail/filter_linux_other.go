//go:build linux && !amd64 && !arm64

package jail

import "golang.org/x/sys/unix"

// The filter was not tested on this architecture.
const (
	auditArch     = 0
	x32Bit        = 0
	archKexecFile = unix.SYS_REBOOT
)

func archForbiddenCalls() []uint32 { return nil }
