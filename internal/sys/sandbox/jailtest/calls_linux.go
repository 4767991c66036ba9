package jailtest

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Call makes a system call and returns the kernel's error.
type Call func() unix.Errno

func call(nr uintptr, args ...uintptr) Call {
	return func() unix.Errno {
		var a [6]uintptr
		copy(a[:], args)
		_, _, e := unix.RawSyscall6(nr, a[0], a[1], a[2], a[3], a[4], a[5])
		return e
	}
}

const (
	bad = ^uintptr(0)      // invalid address
	low = uintptr(1 << 12) // also invalid
)

func socket(family, kind, protocol int) Call {
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

// Forbidden returns the calls that are forbidden in a sandbox.
func Forbidden() map[string]Call {
	self := uintptr(os.Getpid())
	return map[string]Call{
		"keyctl":            call(unix.SYS_KEYCTL, unix.KEYCTL_GET_KEYRING_ID, ^uintptr(2), 0), // the session keyring
		"add_key":           call(unix.SYS_ADD_KEY, bad, bad, 0, 0, 0),
		"request_key":       call(unix.SYS_REQUEST_KEY, bad, bad, 0, 0),
		"bpf":               call(unix.SYS_BPF, 5, bad, 64),
		"perf_event_open":   call(unix.SYS_PERF_EVENT_OPEN, bad, self, bad, bad, 0),
		"userfaultfd":       call(unix.SYS_USERFAULTFD, 1<<20),
		"ptrace":            call(unix.SYS_PTRACE, unix.PTRACE_TRACEME),
		"process_vm_readv":  call(unix.SYS_PROCESS_VM_READV, self, 0, 0, 0, 0, 0),
		"process_vm_writev": call(unix.SYS_PROCESS_VM_WRITEV, self, 0, 0, 0, 0, 0),
		"kcmp":              call(unix.SYS_KCMP, self, self, 0, 0, 1),
		"pidfd_getfd":       call(unix.SYS_PIDFD_GETFD, bad, 0, 0),
		"process_madvise":   call(unix.SYS_PROCESS_MADVISE, bad, 0, 0, 0, 0),
		"migrate_pages":     call(unix.SYS_MIGRATE_PAGES, self, 0, 0, 0),
		"move_pages":        call(unix.SYS_MOVE_PAGES, self, 0, 0, 0, 0, 0),
		"mount":             call(unix.SYS_MOUNT, bad, bad, bad, 0, 0),
		"umount2":           call(unix.SYS_UMOUNT2, bad, 0),
		"pivot_root":        call(unix.SYS_PIVOT_ROOT, bad, bad),
		"chroot":            call(unix.SYS_CHROOT, bad),
		"move_mount":        call(unix.SYS_MOVE_MOUNT, bad, bad, bad, bad, 0),
		"open_tree":         call(unix.SYS_OPEN_TREE, bad, bad, 0),
		"open_tree_attr":    call(unix.SYS_OPEN_TREE_ATTR, bad, bad, 0, bad, 1),
		"fsopen":            call(unix.SYS_FSOPEN, bad, 0),
		"fsconfig":          call(unix.SYS_FSCONFIG, bad, 99, 0, 0, 0),
		"fsmount":           call(unix.SYS_FSMOUNT, bad, 0, 0),
		"fspick":            call(unix.SYS_FSPICK, bad, bad, 0),
		"mount_setattr":     call(unix.SYS_MOUNT_SETATTR, bad, bad, 0, bad, 1),
		"setns":             call(unix.SYS_SETNS, bad, 0),
		"open_by_handle_at": call(unix.SYS_OPEN_BY_HANDLE_AT, bad, bad, 0),
		"name_to_handle_at": call(unix.SYS_NAME_TO_HANDLE_AT, bad, bad, bad, bad, 0),
		"fanotify_init":     call(unix.SYS_FANOTIFY_INIT, bad, 0),
		"kexec_load":        call(unix.SYS_KEXEC_LOAD, 0, 99, bad, 0),
		"init_module":       call(unix.SYS_INIT_MODULE, bad, 8, bad),
		"finit_module":      call(unix.SYS_FINIT_MODULE, bad, bad, 99),
		"delete_module":     call(unix.SYS_DELETE_MODULE, bad, 0),
		"swapon":            call(unix.SYS_SWAPON, bad, 0),
		"swapoff":           call(unix.SYS_SWAPOFF, bad),
		"reboot":            call(unix.SYS_REBOOT, 0, 0, 0, 0),
		"acct":              call(unix.SYS_ACCT, bad),
		"quotactl":          call(unix.SYS_QUOTACTL, bad, bad, 0, 0),
		"quotactl_fd":       call(unix.SYS_QUOTACTL_FD, bad, 0, 0, 0),
		"settimeofday":      call(unix.SYS_SETTIMEOFDAY, bad, 0),
		"clock_settime":     call(unix.SYS_CLOCK_SETTIME, 99, bad),
		"sethostname":       call(unix.SYS_SETHOSTNAME, bad, 1),
		"setdomainname":     call(unix.SYS_SETDOMAINNAME, bad, 1),
		"syslog":            call(unix.SYS_SYSLOG, 10, 0, 0),
		"clone3":            call(unix.SYS_CLONE3, bad, 64),
		"io_uring_setup":    call(unix.SYS_IO_URING_SETUP, 1, bad),
		"io_uring_enter":    call(unix.SYS_IO_URING_ENTER, bad, 0, 0, 0, 0, 0),
		"io_uring_register": call(unix.SYS_IO_URING_REGISTER, bad, 0, 0, 0),
		"unshare user":      unshare(unix.CLONE_NEWUSER),
		"unshare mount":     unshare(unix.CLONE_NEWNS),
		"unshare pid":       unshare(unix.CLONE_NEWPID),
		"unshare net":       unshare(unix.CLONE_NEWNET),
		"unshare ipc":       unshare(unix.CLONE_NEWIPC),
		"unshare uts":       unshare(unix.CLONE_NEWUTS),
		"unshare cgroup":    unshare(unix.CLONE_NEWCGROUP),
		"unshare time":      unshare(unix.CLONE_NEWTIME),
		"clone user":        clone(unix.CLONE_NEWUSER),
		"clone mount":       clone(unix.CLONE_NEWNS),
		"clone net":         clone(unix.CLONE_NEWNET),
		"TIOCSTI":           call(unix.SYS_IOCTL, bad, unix.TIOCSTI, 0),
		"TIOCSTI, high":     call(unix.SYS_IOCTL, bad, unix.TIOCSTI|1<<32, 0),
		"TIOCLINUX":         call(unix.SYS_IOCTL, bad, unix.TIOCLINUX, 0),
		"packet socket":     socket(unix.AF_PACKET, unix.SOCK_RAW, 0),
		"netlink audit":     socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_AUDIT),
		"netlink netfilter": socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_NETFILTER),
		"netlink uevent":    socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_KOBJECT_UEVENT),
	}
}

// Rare returns forbidden calls that not every kernel has.
func Rare() map[string]Call {
	return map[string]Call{
		"vsock":          socket(unix.AF_VSOCK, unix.SOCK_STREAM, 0),
		"alg":            socket(unix.AF_ALG, unix.SOCK_SEQPACKET, 0),
		"bluetooth":      socket(unix.AF_BLUETOOTH, unix.SOCK_RAW, 0),
		"tipc":           socket(unix.AF_TIPC, unix.SOCK_SEQPACKET, 0),
		"can":            socket(unix.AF_CAN, unix.SOCK_RAW, 1),
		"xdp":            socket(unix.AF_XDP, unix.SOCK_RAW, 0),
		"key":            socket(unix.AF_KEY, unix.SOCK_RAW, 2),
		"rds":            socket(unix.AF_RDS, unix.SOCK_SEQPACKET, 0),
		"netlink crypto": socket(unix.AF_NETLINK, unix.SOCK_RAW, unix.NETLINK_CRYPTO),
		"lookup_dcookie": call(unix.SYS_LOOKUP_DCOOKIE, 0, bad, 1),
		"nfsservctl":     call(unix.SYS_NFSSERVCTL, 0, 0, 0),
	}
}

func unshare(flags uintptr) Call {
	return func() unix.Errno {
		runtime.LockOSThread() // the thread ends with the process
		_, _, e := unix.RawSyscall(unix.SYS_UNSHARE, flags, 0, 0)
		if e == unix.EINVAL { // the process has threads: the kernel checked the arguments
			return 0
		}
		return e
	}
}

// clone calls clone with contradictory flags, so that no process is created.
func clone(flags uintptr) Call {
	return call(unix.SYS_CLONE, flags|unix.CLONE_FS|unix.CLONE_THREAD, low, 0, 0, 0)
}

// Main makes a call if the arguments ask for one, and returns the exit code.
func Main(args []string, out io.Writer) (code int, mine bool) {
	if len(args) != 3 || args[1] != Arg {
		return 0, false
	}
	all := Forbidden()
	for name, c := range Rare() {
		all[name] = c
	}
	for name, c := range foreign() {
		all[name] = c
	}
	c, ok := all[args[2]]
	if !ok {
		return NoCall, true
	}
	switch e := c(); e {
	case unix.EPERM, unix.ENOSYS, unix.EAFNOSUPPORT, unix.EACCES:
		_, _ = fmt.Fprintln(out, args[2], "refused:", e)
		return Refused, true
	default:
		_, _ = fmt.Fprintln(out, args[2], "made:", e)
		return Made, true
	}
}

// run calls a piece of machine code.
func run(code []byte) unix.Errno {
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
