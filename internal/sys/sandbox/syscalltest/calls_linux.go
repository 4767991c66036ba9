package syscalltest

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// SyscallFunc makes a system call and returns the kernel's error.
type SyscallFunc func() unix.Errno

func rawCall(nr uintptr, args ...uintptr) SyscallFunc {
	return func() unix.Errno {
		var a [6]uintptr
		copy(a[:], args)
		_, _, e := unix.RawSyscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5])
		return e
	}
}

const (
	badAddress = ^uintptr(0)      // invalid address
	lowAddress = uintptr(1 << 12) // also invalid
)

func socketCall(family, kind, protocol int) SyscallFunc {
	return func() unix.Errno {
		fd, err := unix.Socket(family, kind, protocol)
		if err == nil {
			_ = unix.Close(fd)
			return 0
		}
		e, _ := err.(unix.Errno) //nolint:errorlint // the call returns nothing else
		return e
	}
}

// ForbiddenCalls returns the calls that are forbidden in a sandbox.
func ForbiddenCalls() map[string]SyscallFunc {
	self := uintptr(os.Getpid())
	return map[string]SyscallFunc{
		"keyctl":            rawCall(unix.SYS_KEYCTL, unix.KEYCTL_GET_KEYRING_ID, ^uintptr(2), 0), // the session keyring
		"add_key":           rawCall(unix.SYS_ADD_KEY, badAddress, badAddress, 0, 0, 0),
		"request_key":       rawCall(unix.SYS_REQUEST_KEY, badAddress, badAddress, 0, 0),
		"bpf":               rawCall(unix.SYS_BPF, 5, badAddress, 64),
		"perf_event_open":   rawCall(unix.SYS_PERF_EVENT_OPEN, badAddress, self, badAddress, badAddress, 0),
		"userfaultfd":       rawCall(unix.SYS_USERFAULTFD, 1<<20),
		"ptrace":            rawCall(unix.SYS_PTRACE, unix.PTRACE_TRACEME),
		"process_vm_readv":  rawCall(unix.SYS_PROCESS_VM_READV, self, 0, 0, 0, 0, 0),
		"process_vm_writev": rawCall(unix.SYS_PROCESS_VM_WRITEV, self, 0, 0, 0, 0, 0),
		"kcmp":              rawCall(unix.SYS_KCMP, self, self, 0, 0, 1),
		"pidfd_getfd":       rawCall(unix.SYS_PIDFD_GETFD, badAddress, 0, 0),
		"process_madvise":   rawCall(unix.SYS_PROCESS_MADVISE, badAddress, 0, 0, 0, 0),
		"migrate_pages":     rawCall(unix.SYS_MIGRATE_PAGES, self, 0, 0, 0),
		"move_pages":        rawCall(unix.SYS_MOVE_PAGES, self, 0, 0, 0, 0, 0),
		"mount":             rawCall(unix.SYS_MOUNT, badAddress, badAddress, badAddress, 0, 0),
		"umount2":           rawCall(unix.SYS_UMOUNT2, badAddress, 0),
		"pivot_root":        rawCall(unix.SYS_PIVOT_ROOT, badAddress, badAddress),
		"chroot":            rawCall(unix.SYS_CHROOT, badAddress),
		"move_mount":        rawCall(unix.SYS_MOVE_MOUNT, badAddress, badAddress, badAddress, badAddress, 0),
		"open_tree":         rawCall(unix.SYS_OPEN_TREE, badAddress, badAddress, 0),
		"open_tree_attr":    rawCall(unix.SYS_OPEN_TREE_ATTR, badAddress, badAddress, 0, badAddress, 1),
		"fsopen":            rawCall(unix.SYS_FSOPEN, badAddress, 0),
		"fsconfig":          rawCall(unix.SYS_FSCONFIG, badAddress, 99, 0, 0, 0),
		"fsmount":           rawCall(unix.SYS_FSMOUNT, badAddress, 0, 0),
		"fspick":            rawCall(unix.SYS_FSPICK, badAddress, badAddress, 0),
		"mount_setattr":     rawCall(unix.SYS_MOUNT_SETATTR, badAddress, badAddress, 0, badAddress, 1),
		"setns":             rawCall(unix.SYS_SETNS, badAddress, 0),
		"open_by_handle_at": rawCall(unix.SYS_OPEN_BY_HANDLE_AT, badAddress, badAddress, 0),
		"name_to_handle_at": rawCall(unix.SYS_NAME_TO_HANDLE_AT, badAddress, badAddress, badAddress, badAddress, 0),
		"fanotify_init":     rawCall(unix.SYS_FANOTIFY_INIT, badAddress, 0),
		"kexec_load":        rawCall(unix.SYS_KEXEC_LOAD, 0, 99, badAddress, 0),
		"init_module":       rawCall(unix.SYS_INIT_MODULE, badAddress, 8, badAddress),
		"finit_module":      rawCall(unix.SYS_FINIT_MODULE, badAddress, badAddress, 99),
		"delete_module":     rawCall(unix.SYS_DELETE_MODULE, badAddress, 0),
		"swapon":            rawCall(unix.SYS_SWAPON, badAddress, 0),
		"swapoff":           rawCall(unix.SYS_SWAPOFF, badAddress),
		"reboot":            rawCall(unix.SYS_REBOOT, 0, 0, 0, 0),
		"acct":              rawCall(unix.SYS_ACCT, badAddress),
		"quotactl":          rawCall(unix.SYS_QUOTACTL, badAddress, badAddress, 0, 0),
		"quotactl_fd":       rawCall(unix.SYS_QUOTACTL_FD, badAddress, 0, 0, 0),
		"settimeofday":      rawCall(unix.SYS_SETTIMEOFDAY, badAddress, 0),
		"clock_settime":     rawCall(unix.SYS_CLOCK_SETTIME, 99, badAddress),
		"sethostname":       rawCall(unix.SYS_SETHOSTNAME, badAddress, 1),
		"setdomainname":     rawCall(unix.SYS_SETDOMAINNAME, badAddress, 1),
		"syslog":            rawCall(unix.SYS_SYSLOG, 10, 0, 0),
		"clone3":            rawCall(unix.SYS_CLONE3, badAddress, 64),
		"io_uring_setup":    rawCall(unix.SYS_IO_URING_SETUP, 1, badAddress),
		"io_uring_enter":    rawCall(unix.SYS_IO_URING_ENTER, badAddress, 0, 0, 0, 0, 0),
		"io_uring_register": rawCall(unix.SYS_IO_URING_REGISTER, badAddress, 0, 0, 0),
		"unshare user":      unshareCall(unix.CLONE_NEWUSER),
		"unshare mount":     unshareCall(unix.CLONE_NEWNS),
		"unshare pid":       unshareCall(unix.CLONE_NEWPID),
		"unshare net":       unshareCall(unix.CLONE_NEWNET),
		"unshare ipc":       unshareCall(unix.CLONE_NEWIPC),
		"unshare uts":       unshareCall(unix.CLONE_NEWUTS),
		"unshare cgroup":    unshareCall(unix.CLONE_NEWCGROUP),
		"unshare time":      unshareCall(unix.CLONE_NEWTIME),
		"clone user":        cloneCall(unix.CLONE_NEWUSER),
		"clone mount":       cloneCall(unix.CLONE_NEWNS),
		"clone net":         cloneCall(unix.CLONE_NEWNET),
		"TIOCSTI":           rawCall(unix.SYS_IOCTL, badAddress, unix.TIOCSTI, 0),
		"TIOCSTI, high":     rawCall(unix.SYS_IOCTL, badAddress, unix.TIOCSTI|1<<32, 0),
		"TIOCLINUX":         rawCall(unix.SYS_IOCTL, badAddress, unix.TIOCLINUX, 0),
		"packet socket":     socketCall(unix.AF_PACKET, unix.SOCK_RAW, 0),
		"netlink audit":     socketCall(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT),
		"netlink netfilter": socketCall(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER),
		"netlink uevent":    socketCall(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT),
	}
}

// RareCalls returns forbidden calls that not every kernel has.
func RareCalls() map[string]SyscallFunc {
	return map[string]SyscallFunc{
		"vsock":          socketCall(unix.AF_VSOCK, unix.SOCK_STREAM, 0),
		"alg":            socketCall(unix.AF_ALG, unix.SOCK_SEQPACKET, 0),
		"bluetooth":      socketCall(unix.AF_BLUETOOTH, unix.SOCK_RAW, 0),
		"tipc":           socketCall(unix.AF_TIPC, unix.SOCK_SEQPACKET, 0),
		"can":            socketCall(unix.AF_CAN, unix.SOCK_RAW, 1),
		"xdp":            socketCall(unix.AF_XDP, unix.SOCK_RAW, 0),
		"key":            socketCall(unix.AF_KEY, unix.SOCK_RAW, 2),
		"rds":            socketCall(unix.AF_RDS, unix.SOCK_SEQPACKET, 0),
		"netlink crypto": socketCall(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_CRYPTO),
		"lookup_dcookie": rawCall(unix.SYS_LOOKUP_DCOOKIE, 0, badAddress, 1),
		"nfsservctl":     rawCall(unix.SYS_NFSSERVCTL, 0, 0, 0),
	}
}

func unshareCall(flags uintptr) SyscallFunc {
	return func() unix.Errno {
		runtime.LockOSThread() // the thread ends with the process
		_, _, e := unix.RawSyscall(unix.SYS_UNSHARE, flags, 0, 0)
		if e == unix.EINVAL { // the process has threads: the kernel checked the arguments
			return 0
		}
		return e
	}
}

// cloneCall calls clone with contradictory flags, so that no process is created.
func cloneCall(flags uintptr) SyscallFunc {
	return rawCall(unix.SYS_CLONE, flags|unix.CLONE_FS|unix.CLONE_THREAD, lowAddress, 0, 0, 0)
}

// RunCallFromArgs makes a call if the arguments ask for one, and returns the exit code.
func RunCallFromArgs(args []string, out io.Writer) (code int, mine bool) {
	if len(args) != 3 || args[1] != CallArg {
		return 0, false
	}
	all := ForbiddenCalls()
	for name, c := range RareCalls() {
		all[name] = c
	}
	for name, c := range foreignCalls() {
		all[name] = c
	}
	c, ok := all[args[2]]
	if !ok {
		return CallUnknown, true
	}
	switch e := c(); e {
	case unix.EPERM, unix.ENOSYS, unix.EAFNOSUPPORT, unix.EACCES:
		_, _ = fmt.Fprintln(out, args[2], "refused:", e)
		return CallRefused, true
	default:
		_, _ = fmt.Fprintln(out, args[2], "made:", e)
		return CallMade, true
	}
}

// runMachineCode calls a piece of machine code.
func runMachineCode(code []byte) unix.Errno {
	page, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return unix.ENOSYS
	}
	copy(page, code)
	at := unsafe.Pointer(&page[0])
	function := &at
	(*(*func())(unsafe.Pointer(&function)))()
	return 0
}
