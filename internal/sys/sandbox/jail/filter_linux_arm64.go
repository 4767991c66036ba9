package jail

import "golang.org/x/sys/unix"

const (
	auditArch     = unix.AUDIT_ARCH_AARCH64
	x32Bit        = 0
	archKexecFile = unix.SYS_KEXEC_FILE_LOAD
)

func archForbiddenCalls() []uint32 { return nil }
