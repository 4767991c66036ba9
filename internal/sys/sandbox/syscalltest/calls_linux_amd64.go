package syscalltest

import "golang.org/x/sys/unix"

// foreignCalls returns calls with other numberings. They kill the calling process.
func foreignCalls() map[string]SyscallFunc {
	return map[string]SyscallFunc{
		"x32 getpid": func() unix.Errno {
			_, _, e := unix.RawSyscall(0x40000000|unix.SYS_GETPID, 0, 0, 0)
			if e == unix.ENOSYS { // the kernel handled it
				return 0
			}
			return e
		},
		"x86 getpid": func() unix.Errno {
			return runMachineCode([]byte{0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xc3}) // mov eax, 20; int 0x80; ret
		},
	}
}

// ForeignCallNames returns the names of the calls of other numberings.
func ForeignCallNames() []string { return []string{"x32 getpid", "x86 getpid"} }
