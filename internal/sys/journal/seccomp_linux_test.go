package journal_test

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/unix"
)

// denySyncs lets the kernel answer every fsync and fdatasync of this process
// with an I/O error, as a dying disk does. It cannot be undone.
func denySyncs() error {
	const load, jumpEqual, ret = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	program := []unix.SockFilter{
		{Code: load, K: 0}, // the number of the call
		{Code: jumpEqual, Jt: 2, K: unix.SYS_FSYNC},
		{Code: jumpEqual, Jt: 1, K: unix.SYS_FDATASYNC},
		{Code: ret, K: unix.SECCOMP_RET_ALLOW},
		{Code: ret, K: unix.SECCOMP_RET_ERRNO | uint32(unix.EIO)},
	}
	f := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return err
	}
	_, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, unix.SECCOMP_FILTER_FLAG_TSYNC, uintptr(unsafe.Pointer(&f)))
	if errno != 0 {
		return errors.Join(errors.New("no filter for all threads"), errno)
	}
	return nil
}
