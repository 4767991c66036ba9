package jail

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/proc"
)

// RequiredCapabilities returns the capabilities with which a jail starts, in its own user
// namespace.
func RequiredCapabilities() []uintptr {
	return []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN, unix.CAP_SETPCAP}
}

// dropPrivileges drops all privileges of the calling thread that the command must not have, and
// checks that they are gone.
func dropPrivileges(s JailSpec) error {
	limits := s.Limits.KernelLimits()
	if s.Kind == KindLandlock {
		delete(limits, unix.RLIMIT_NPROC) // it would count all processes of the user
	}
	if err := proc.SetRlimits(0, limits); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("forbid traces: %w", err)
	}
	if err := dropAllCapabilities(s.Kind == KindNamespaces || os.Geteuid() == 0); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("forbid new privileges: %w", err)
	}
	if err := restrictPaths(s); err != nil && (s.Kind == KindLandlock || LandlockVersion() > 0) {
		return err
	}
	program, err := BuildSeccompFilter(s.Kind == KindNamespaces)
	if err != nil {
		return err
	}
	return applySeccompFilter(program)
}

// KernelLimits returns the limits that the kernel enforces for each process. The number of processes is
// counted in the jail's own user namespace, but not for the machine's root, for whom the jail's
// highest process number is the limit instead.
func (l ResourceLimits) KernelLimits() map[int]uint64 {
	limits := map[int]uint64{unix.RLIMIT_CORE: 0}
	if l.FileSize > 0 {
		limits[unix.RLIMIT_FSIZE] = uint64(l.FileSize)
	}
	if l.OpenFiles > 0 {
		limits[unix.RLIMIT_NOFILE] = uint64(l.OpenFiles)
	}
	if l.Processes > 0 {
		limits[unix.RLIMIT_NPROC] = uint64(l.Processes)
	}
	return limits
}

// dropAllCapabilities permanently drops every capability of the calling thread. Without the permission to drop
// the bounding set, that set has no use without new privileges.
func dropAllCapabilities(able bool) error {
	last := uintptr(0)
	for ; able; last++ {
		if _, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, last, 0, 0, 0); err != nil {
			break // no capability has this number
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, last, 0, 0, 0); err != nil {
			return fmt.Errorf("drop capability %d: %w", last, err)
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("drop the ambient capabilities: %w", err)
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if _, _, e := unix.RawSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&head)), uintptr(unsafe.Pointer(&none[0])), 0); e != 0 {
		return fmt.Errorf("drop capabilities: %w", e)
	}
	if able && last == 0 {
		return errors.New("the kernel knows no capabilities to drop")
	}
	return checkNoCapabilities(last)
}

// checkNoCapabilities returns an error if the calling thread has any capability left.
func checkNoCapabilities(last uintptr) error {
	for c := range last {
		if in, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, c, 0, 0, 0); err != nil || in != 0 {
			return fmt.Errorf("capability %d is still in the bounding set", c)
		}
		if in, err := unix.PrctlRetInt(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_IS_SET, c, 0, 0); err != nil || in != 0 {
			return fmt.Errorf("capability %d is still in the ambient set", c)
		}
	}
	head := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var have [2]unix.CapUserData
	if _, _, e := unix.RawSyscall(unix.SYS_CAPGET, uintptr(unsafe.Pointer(&head)), uintptr(unsafe.Pointer(&have[0])), 0); e != 0 {
		return fmt.Errorf("read capabilities: %w", e)
	}
	if have != [2]unix.CapUserData{} {
		return fmt.Errorf("capabilities are left: %+v", have)
	}
	return nil
}

// raiseLoopback brings up the jail's own loopback.
func raiseLoopback() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("raise the loopback: %w", err)
	}
	defer func() { _ = unix.Close(fd) }()
	r, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("raise the loopback: %w", err)
	}
	r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, r); err != nil {
		return fmt.Errorf("raise the loopback: %w", err)
	}
	return nil
}
