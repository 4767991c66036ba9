package jail

import (
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Sets of Landlock rights, by the purpose of a path.
const (
	seeRights   = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE | unix.LANDLOCK_ACCESS_FS_READ_DIR
	writeRights = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | unix.LANDLOCK_ACCESS_FS_REFER |
		unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG | unix.LANDLOCK_ACCESS_FS_MAKE_SOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_SYM
	deviceRights = unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK // never granted
	ioctlRight   = unix.LANDLOCK_ACCESS_FS_IOCTL_DEV
	fileRights   = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE |
		unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE | ioctlRight
)

// LandlockVersion returns the version of Landlock in this kernel, 0 for none.
func LandlockVersion() int {
	v, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if e != 0 {
		return 0
	}
	return int(v)
}

// handledRights returns the rights that a version knows.
func handledRights(abi int) unix.LandlockRulesetAttr {
	a := unix.LandlockRulesetAttr{Handled_access_fs: seeRights | writeRights | deviceRights | ioctlRight}
	if abi < 2 {
		a.Handled_access_fs &^= unix.LANDLOCK_ACCESS_FS_REFER
	}
	if abi < 3 {
		a.Handled_access_fs &^= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	if abi < 5 {
		a.Handled_access_fs &^= ioctlRight
	}
	if abi >= 6 {
		a.Scoped = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
	}
	return a
}

// landlockRuleset is an unfinished Landlock ruleset.
type landlockRuleset struct {
	fd   int
	know uint64 // the rights that are handled
}

// newLandlockRuleset starts a ruleset. With net no TCP port may be used.
func newLandlockRuleset(net bool) (*landlockRuleset, error) {
	abi := LandlockVersion()
	if abi < 1 {
		return nil, errors.New("this kernel has no Landlock")
	}
	a := handledRights(abi)
	if net && abi >= 4 {
		a.Handled_access_net = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	}
	size := uintptr(8)
	switch {
	case abi >= 6:
		size = 24
	case abi >= 4:
		size = 16
	}
	fd, _, e := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&a)), size, 0)
	if e != 0 {
		return nil, fmt.Errorf("make Landlock rules: %w", e)
	}
	return &landlockRuleset{fd: int(fd), know: a.Handled_access_fs}, nil
}

// allowPath grants rights below a path; a missing path is skipped.
func (r *landlockRuleset) allowPath(path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC, 0)
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.EACCES) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("allow %s: %w", path, err)
	}
	defer func() { _ = unix.Close(fd) }()
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return fmt.Errorf("allow %s: %w", path, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= fileRights
	}
	a := unix.LandlockPathBeneathAttr{Allowed_access: rights & r.know, Parent_fd: int32(fd)}
	_, _, e := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), unix.LANDLOCK_RULE_PATH_BENEATH, uintptr(unsafe.Pointer(&a)), 0, 0, 0)
	if e != 0 {
		return fmt.Errorf("allow %s: %w", path, e)
	}
	return nil
}

// enforceRules applies the rules to the calling thread, and all processes that it starts.
func (r *landlockRuleset) enforceRules() error {
	defer func() { _ = unix.Close(r.fd) }()
	if _, _, e := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.fd), 0, 0); e != 0 {
		return fmt.Errorf("enforce Landlock rules: %w", e)
	}
	return nil
}

// restrictPaths applies Landlock to the calling thread: all visible paths may be read and
// executed, and only the command's own directories written. If the mounts have the same effect,
// this is a second line of defense.
func restrictPaths(s JailSpec) error {
	only := s.Kind == KindLandlock
	r, err := newLandlockRuleset(only)
	if err != nil {
		return err
	}
	see := []string{"/"}
	if only {
		see = s.Readable
	}
	for _, p := range see {
		err = errors.Join(err, r.allowPath(p, seeRights))
	}
	for _, p := range s.Writable {
		err = errors.Join(err, r.allowPath(p, seeRights|writeRights))
	}
	for _, p := range allowedDevices() {
		err = errors.Join(err, r.allowPath("/dev/"+p, unix.LANDLOCK_ACCESS_FS_READ_FILE|unix.LANDLOCK_ACCESS_FS_WRITE_FILE|unix.LANDLOCK_ACCESS_FS_TRUNCATE|ioctlRight))
	}
	if !only {
		err = errors.Join(err, r.allowPath("/dev/shm", seeRights|writeRights),
			r.allowPath("/dev/pts", seeRights|unix.LANDLOCK_ACCESS_FS_WRITE_FILE|ioctlRight))
	}
	if err != nil {
		_ = unix.Close(r.fd)
		return err
	}
	return r.enforceRules()
}

// allowedDevices returns the permitted devices.
func allowedDevices() []string { return []string{"null", "zero", "full", "random", "urandom", "tty"} }
