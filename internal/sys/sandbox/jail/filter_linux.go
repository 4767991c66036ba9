package jail

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Offsets in struct seccomp_data: the low half of each argument, on little-endian machines.
const (
	offNr   = 0
	offArch = 4
	offArgs = 16
)

func lowArgOffset(n int) uint32 { return uint32(offArgs + 8*n) }

// spaceFlags are the flags of clone and unshare that create namespaces.
const spaceFlags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
	unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWTIME

// seccompFilterProgram is an unfinished BPF program.
type seccompFilterProgram []unix.SockFilter

func (c *seccompFilterProgram) emit(op uint16, k uint32) { c.emitJump(op, k, 0, 0) }

func (c *seccompFilterProgram) emitJump(op uint16, k uint32, yes, no uint8) {
	*c = append(*c, unix.SockFilter{Code: op, Jt: yes, Jf: no, K: k})
}

func (c *seccompFilterProgram) emitLoad(at uint32)   { c.emit(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, at) }
func (c *seccompFilterProgram) emitReturn(is uint32) { c.emit(unix.BPF_RET|unix.BPF_K, is) }

func denyWith(errno unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(errno) }

// emitReturnIfEqual returns the verdict if the loaded word is k.
func (c *seccompFilterProgram) emitReturnIfEqual(k, is uint32) {
	c.emitJump(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, k, 0, 1)
	c.emitReturn(is)
}

// onSyscall runs body if the loaded call is nr; body must end with a verdict.
func (c *seccompFilterProgram) onSyscall(nr uint32, body func(*seccompFilterProgram)) {
	var b seccompFilterProgram
	body(&b)
	c.emitJump(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, nr, 0, uint8(len(b)))
	*c = append(*c, b...)
}

// BuildSeccompFilter returns the program that judges every system call in a jail: forbidden calls fail, and
// calls with the numbering of another architecture or x32 kill. Without sockets only connected
// pairs can be created, and no other process can be changed.
func BuildSeccompFilter(sockets bool) ([]unix.SockFilter, error) {
	if auditArch == 0 {
		return nil, fmt.Errorf("no filter for system calls on %s", runtime.GOARCH)
	}
	c := &seccompFilterProgram{}
	c.emitLoad(offArch)
	c.emitJump(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, auditArch, 1, 0)
	c.emitReturn(unix.SECCOMP_RET_KILL_PROCESS)
	c.emitLoad(offNr)
	if x32Bit != 0 {
		c.emitJump(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, x32Bit, 0, 1)
		c.emitReturn(unix.SECCOMP_RET_KILL_PROCESS)
	}
	for _, nr := range append(forbiddenCalls(), archForbiddenCalls()...) {
		c.emitReturnIfEqual(nr, denyWith(unix.EPERM))
	}
	for _, nr := range unimplementedCalls() {
		c.emitReturnIfEqual(nr, denyWith(unix.ENOSYS))
	}
	for _, nr := range []uint32{unix.SYS_CLONE, unix.SYS_UNSHARE} {
		c.onSyscall(nr, func(c *seccompFilterProgram) {
			c.emitLoad(lowArgOffset(0))
			c.emitJump(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, spaceFlags&0xffffffff, 0, 1)
			c.emitReturn(denyWith(unix.EPERM))
			c.emitReturn(unix.SECCOMP_RET_ALLOW)
		})
	}
	c.onSyscall(unix.SYS_IOCTL, func(c *seccompFilterProgram) {
		c.emitLoad(lowArgOffset(1))
		c.emitReturnIfEqual(unix.TIOCSTI, denyWith(unix.EPERM)) // it types into the terminal
		c.emitReturnIfEqual(unix.TIOCLINUX, denyWith(unix.EPERM))
		c.emitReturn(unix.SECCOMP_RET_ALLOW)
	})
	c.onSyscall(unix.SYS_SOCKET, func(c *seccompFilterProgram) { c.judgeSocket(sockets) })
	c.onSyscall(unix.SYS_SOCKETPAIR, func(c *seccompFilterProgram) {
		c.emitLoad(lowArgOffset(0))
		c.emitReturnIfEqual(unix.AF_UNIX, unix.SECCOMP_RET_ALLOW)
		c.emitReturn(denyWith(unix.EAFNOSUPPORT))
	})
	if !sockets {
		c.denyForeignProcessCalls()
	}
	c.emitReturn(unix.SECCOMP_RET_ALLOW)
	return *c, nil
}

// denyForeignProcessCalls refuses calls that change another process of the same user. In namespaces there is
// none.
func (c *seccompFilterProgram) denyForeignProcessCalls() {
	for at, calls := range [][]uint32{
		{unix.SYS_PRLIMIT64, unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR},
		{unix.SYS_SETPRIORITY, unix.SYS_IOPRIO_SET},
	} {
		for _, nr := range calls {
			c.onSyscall(nr, func(c *seccompFilterProgram) {
				c.emitLoad(lowArgOffset(at))
				c.emitReturnIfEqual(0, unix.SECCOMP_RET_ALLOW)
				c.emitReturn(denyWith(unix.EPERM))
			})
		}
	}
}

// judgeSocket judges a call of socket by its address family.
func (c *seccompFilterProgram) judgeSocket(any bool) {
	if !any {
		c.emitReturn(denyWith(unix.EACCES))
		return
	}
	c.emitLoad(lowArgOffset(0))
	for _, family := range []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6} {
		c.emitReturnIfEqual(family, unix.SECCOMP_RET_ALLOW)
	}
	c.emitJump(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, unix.AF_NETLINK, 0, 3)
	c.emitLoad(lowArgOffset(2))
	c.emitJump(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, unix.NETLINK_ROUTE, 0, 1)
	c.emitReturn(unix.SECCOMP_RET_ALLOW)
	c.emitReturn(denyWith(unix.EAFNOSUPPORT))
}

// forbiddenCalls returns the calls that are forbidden in a jail, regardless of their arguments.
// Most need a privilege that a jail does not have; a kernel with a bug in one of them should not
// be reached at all.
func forbiddenCalls() []uint32 {
	return []uint32{
		unix.SYS_KEYCTL, unix.SYS_ADD_KEY, unix.SYS_REQUEST_KEY, // the keyrings belong to the host
		unix.SYS_BPF, unix.SYS_PERF_EVENT_OPEN, unix.SYS_USERFAULTFD,
		unix.SYS_PTRACE, unix.SYS_PROCESS_VM_READV, unix.SYS_PROCESS_VM_WRITEV, unix.SYS_KCMP, unix.SYS_PIDFD_GETFD,
		unix.SYS_PROCESS_MADVISE, unix.SYS_MIGRATE_PAGES, unix.SYS_MOVE_PAGES,
		unix.SYS_MOUNT, unix.SYS_UMOUNT2, unix.SYS_PIVOT_ROOT, unix.SYS_CHROOT, unix.SYS_MOVE_MOUNT, unix.SYS_OPEN_TREE,
		unix.SYS_OPEN_TREE_ATTR, unix.SYS_FSOPEN, unix.SYS_FSCONFIG, unix.SYS_FSMOUNT, unix.SYS_FSPICK, unix.SYS_MOUNT_SETATTR,
		unix.SYS_SETNS, unix.SYS_OPEN_BY_HANDLE_AT, unix.SYS_NAME_TO_HANDLE_AT, unix.SYS_FANOTIFY_INIT,
		unix.SYS_KEXEC_LOAD, archKexecFile, unix.SYS_INIT_MODULE, unix.SYS_FINIT_MODULE, unix.SYS_DELETE_MODULE,
		unix.SYS_SWAPON, unix.SYS_SWAPOFF, unix.SYS_REBOOT, unix.SYS_ACCT, unix.SYS_QUOTACTL, unix.SYS_QUOTACTL_FD,
		unix.SYS_SETTIMEOFDAY, unix.SYS_CLOCK_SETTIME, unix.SYS_SETHOSTNAME, unix.SYS_SETDOMAINNAME,
		unix.SYS_SYSLOG, unix.SYS_VHANGUP, unix.SYS_LOOKUP_DCOOKIE, unix.SYS_NFSSERVCTL,
	}
}

// unimplementedCalls returns the calls that seem unimplemented in a jail. Libraries fall back to older
// ones: clone3 hides its flags from a filter, and the operations of io_uring bypass filters.
func unimplementedCalls() []uint32 {
	return []uint32{unix.SYS_CLONE3, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER}
}

// applySeccompFilter applies the filter to the calling thread, and all processes that it starts.
func applySeccompFilter(program []unix.SockFilter) error {
	if len(program) == 0 {
		return errors.New("no filter")
	}
	p := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&p))); e != 0 {
		return fmt.Errorf("set the filter of system calls: %w", e)
	}
	return nil
}

// EncodeSeccompFilter returns a filter in the form that the kernel, and so bubblewrap, reads.
func EncodeSeccompFilter(program []unix.SockFilter) []byte {
	if len(program) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&program[0])), len(program)*int(unsafe.Sizeof(program[0])))
}
