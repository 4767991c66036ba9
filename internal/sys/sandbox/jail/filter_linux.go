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

func lowArg(n int) uint32 { return uint32(offArgs + 8*n) }

// spaceFlags are the flags of clone and unshare that create namespaces.
const spaceFlags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
	unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWTIME

// code is an unfinished BPF program.
type code []unix.SockFilter

func (c *code) op(op uint16, k uint32) { c.jump(op, k, 0, 0) }

func (c *code) jump(op uint16, k uint32, yes, no uint8) {
	*c = append(*c, unix.SockFilter{Code: op, Jt: yes, Jf: no, K: k})
}

func (c *code) load(at uint32)   { c.op(unix.BPF_LD|unix.BPF_W|unix.BPF_ABS, at) }
func (c *code) answer(is uint32) { c.op(unix.BPF_RET|unix.BPF_K, is) }

func deny(errno unix.Errno) uint32 { return unix.SECCOMP_RET_ERRNO | uint32(errno) }

// on returns the verdict if the loaded word is k.
func (c *code) on(k, is uint32) {
	c.jump(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, k, 0, 1)
	c.answer(is)
}

// onCall runs body if the loaded call is nr; body must end with a verdict.
func (c *code) onCall(nr uint32, body func(*code)) {
	var b code
	body(&b)
	c.jump(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, nr, 0, uint8(len(b)))
	*c = append(*c, b...)
}

// Filter returns the program that judges every system call in a jail: forbidden calls fail, and
// calls with the numbering of another architecture or x32 kill. Without sockets only connected
// pairs can be created, and no other process can be changed.
func Filter(sockets bool) ([]unix.SockFilter, error) {
	if auditArch == 0 {
		return nil, fmt.Errorf("no filter for system calls on %s", runtime.GOARCH)
	}
	c := &code{}
	c.load(offArch)
	c.jump(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, auditArch, 1, 0)
	c.answer(unix.SECCOMP_RET_KILL_PROCESS)
	c.load(offNr)
	if x32Bit != 0 {
		c.jump(unix.BPF_JMP|unix.BPF_JGE|unix.BPF_K, x32Bit, 0, 1)
		c.answer(unix.SECCOMP_RET_KILL_PROCESS)
	}
	for _, nr := range append(forbiddenCalls(), archForbidden()...) {
		c.on(nr, deny(unix.EPERM))
	}
	for _, nr := range missingCalls() {
		c.on(nr, deny(unix.ENOSYS))
	}
	for _, nr := range []uint32{unix.SYS_CLONE, unix.SYS_UNSHARE} {
		c.onCall(nr, func(c *code) {
			c.load(lowArg(0))
			c.jump(unix.BPF_JMP|unix.BPF_JSET|unix.BPF_K, spaceFlags&0xffffffff, 0, 1)
			c.answer(deny(unix.EPERM))
			c.answer(unix.SECCOMP_RET_ALLOW)
		})
	}
	c.onCall(unix.SYS_IOCTL, func(c *code) {
		c.load(lowArg(1))
		c.on(unix.TIOCSTI, deny(unix.EPERM)) // it types into the terminal
		c.on(unix.TIOCLINUX, deny(unix.EPERM))
		c.answer(unix.SECCOMP_RET_ALLOW)
	})
	c.onCall(unix.SYS_SOCKET, func(c *code) { c.socket(sockets) })
	c.onCall(unix.SYS_SOCKETPAIR, func(c *code) {
		c.load(lowArg(0))
		c.on(unix.AF_UNIX, unix.SECCOMP_RET_ALLOW)
		c.answer(deny(unix.EAFNOSUPPORT))
	})
	if !sockets {
		c.spareOthers()
	}
	c.answer(unix.SECCOMP_RET_ALLOW)
	return *c, nil
}

// spareOthers refuses calls that change another process of the same user. In namespaces there is
// none.
func (c *code) spareOthers() {
	for at, calls := range [][]uint32{
		{unix.SYS_PRLIMIT64, unix.SYS_SCHED_SETAFFINITY, unix.SYS_SCHED_SETSCHEDULER, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_SETATTR},
		{unix.SYS_SETPRIORITY, unix.SYS_IOPRIO_SET},
	} {
		for _, nr := range calls {
			c.onCall(nr, func(c *code) {
				c.load(lowArg(at))
				c.on(0, unix.SECCOMP_RET_ALLOW)
				c.answer(deny(unix.EPERM))
			})
		}
	}
}

// socket judges a call of socket by its address family.
func (c *code) socket(any bool) {
	if !any {
		c.answer(deny(unix.EACCES))
		return
	}
	c.load(lowArg(0))
	for _, family := range []uint32{unix.AF_UNIX, unix.AF_INET, unix.AF_INET6} {
		c.on(family, unix.SECCOMP_RET_ALLOW)
	}
	c.jump(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, unix.AF_NETLINK, 0, 3)
	c.load(lowArg(2))
	c.jump(unix.BPF_JMP|unix.BPF_JEQ|unix.BPF_K, unix.NETLINK_ROUTE, 0, 1)
	c.answer(unix.SECCOMP_RET_ALLOW)
	c.answer(deny(unix.EAFNOSUPPORT))
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

// missingCalls returns the calls that seem unimplemented in a jail. Libraries fall back to older
// ones: clone3 hides its flags from a filter, and the operations of io_uring bypass filters.
func missingCalls() []uint32 {
	return []uint32{unix.SYS_CLONE3, unix.SYS_IO_URING_SETUP, unix.SYS_IO_URING_ENTER, unix.SYS_IO_URING_REGISTER}
}

// setFilter applies the filter to the calling thread, and all processes that it starts.
func setFilter(program []unix.SockFilter) error {
	if len(program) == 0 {
		return errors.New("no filter")
	}
	p := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if _, _, e := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, 0, uintptr(unsafe.Pointer(&p))); e != 0 {
		return fmt.Errorf("set the filter of system calls: %w", e)
	}
	return nil
}

// Bytes returns a filter in the form that the kernel, and so bubblewrap, reads.
func Bytes(program []unix.SockFilter) []byte {
	if len(program) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&program[0])), len(program)*int(unsafe.Sizeof(program[0])))
}
