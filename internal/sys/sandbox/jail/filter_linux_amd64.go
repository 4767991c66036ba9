package jail

import "golang.org/x/sys/unix"

const (
	auditArch     = unix.AUDIT_ARCH_X86_64
	x32Bit        = 0x40000000
	archKexecFile = unix.SYS_KEXEC_FILE_LOAD
)

func archForbiddenCalls() []uint32 {
	return []uint32{
		unix.SYS_IOPL, unix.SYS_IOPERM, unix.SYS_MODIFY_LDT, unix.SYS_USELIB, unix.SYS_USTAT, unix.SYS_SYSFS,
		unix.SYS__SYSCTL, unix.SYS_CREATE_MODULE, unix.SYS_GET_KERNEL_SYMS, unix.SYS_QUERY_MODULE,
	}
}
