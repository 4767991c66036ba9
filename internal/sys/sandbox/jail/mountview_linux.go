package jail

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// stagingDir is the host's directory over which the view is mounted, in this process's own mount
// namespace. Files there are not changed.
const stagingDir = "/tmp"

// smallTmpfs is the size limit of directories with only mount points.
const smallTmpfs = 16 << 20

// detachedMount is a detached copy of a part of the host's tree.
type detachedMount struct {
	fd  int // of the copy; -1 if the mount has none or is left out
	dir bool
	out bool // it is left out
	was int  // O_PATH of the original, for mounts inside of it; -1 for none
}

// buildMountView builds the command's view, and makes it the root.
func buildMountView(s JailSpec) error {
	if err := unix.Mount("", "/", "", unix.MS_SLAVE|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	all := devMounts(s.Mounts, s.Limits.Tmp)
	sources, copies, err := cloneSources(all)
	if err != nil {
		return err
	}
	if err := mountTmpfs(stagingDir, "mode=0755", smallTmpfs); err != nil {
		return err
	}
	if err := os.Chdir(stagingDir); err != nil {
		return err
	}
	root, err := os.OpenRoot(".")
	if err != nil {
		return err
	}
	for i, m := range all {
		if err := placeMount(root, m, sources[i], copies[m.Path]); err != nil {
			return fmt.Errorf("show %s: %w", m.Path, err)
		}
	}
	if err := procMount(root, s.Limits); err != nil {
		return err
	}
	if err := errors.Join(root.MkdirAll(BoxHome[1:], 0o700), root.Close()); err != nil {
		return err
	}
	if err := unix.PivotRoot(".", "."); err != nil {
		return fmt.Errorf("change the root: %w", err)
	}
	if err := unix.Unmount(".", unix.MNT_DETACH); err != nil {
		return fmt.Errorf("let go of the host's root: %w", err)
	}
	if err := os.Chdir("/"); err != nil {
		return err
	}
	return setMountAttr(unix.AT_FDCWD, "/", unix.MOUNT_ATTR_RDONLY, 0)
}

// devMounts returns the mounts preceded by those of /dev.
func devMounts(mounts []PathMount, size int64) []PathMount {
	var all []PathMount
	for _, d := range allowedDevices() {
		all = append(all, PathMount{How: MountBind, Path: "/dev/" + d})
	}
	for name, to := range map[string]string{
		"fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2", "ptmx": "pts/ptmx",
	} {
		all = append(all, PathMount{How: MountLink, Path: "/dev/" + name, From: to})
	}
	return append(append(all, PathMount{How: MountTmpfs, Path: "/dev/shm", Size: size}), mounts...)
}

// cloneSources opens copies of all shown paths while the host's tree is visible.
func cloneSources(mounts []PathMount) ([]detachedMount, map[string][]byte, error) {
	sources, copies := make([]detachedMount, len(mounts)), map[string][]byte{}
	for i, m := range mounts {
		sources[i] = detachedMount{fd: -1, was: -1}
		from := m.From
		if from == "" {
			from = m.Path
		}
		switch m.How {
		case MountCopy:
			data, err := os.ReadFile(from)
			sources[i].out = err != nil
			copies[m.Path] = data
		case MountShow, MountBind:
			var err error
			if sources[i], err = cloneSource(m, from, mounts[:i], sources); err != nil {
				return nil, nil, fmt.Errorf("show %s: %w", m.Path, err)
			}
		case MountLayer:
			var err error
			if sources[i], err = mountLayer(m, from); err != nil {
				return nil, nil, fmt.Errorf("show %s: %w", m.Path, err)
			}
		case MountLink, MountTmpfs, MountCover:
		default:
			return nil, nil, fmt.Errorf("show %s: no way %q", m.Path, m.How)
		}
	}
	return sources, copies, nil
}

// cloneSource copies one part of the host's tree. Paths inside of a part that others may have
// written are looked up in that part, without following links.
func cloneSource(m PathMount, from string, before []PathMount, sources []detachedMount) (detachedMount, error) {
	dir, how := unix.AT_FDCWD, unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC}
	if m.Inner {
		for i, o := range before {
			if rel, ok := strings.CutPrefix(m.Path, o.Path+"/"); ok && sources[i].was >= 0 {
				dir, from, how.Resolve = sources[i].was, rel, unix.RESOLVE_BENEATH|unix.RESOLVE_NO_SYMLINKS|unix.RESOLVE_NO_MAGICLINKS
			}
		}
	}
	was, err := unix.Openat2(dir, from, &how)
	switch {
	case m.How == MountShow && errors.Is(err, os.ErrNotExist):
		return detachedMount{fd: -1, was: -1, out: true}, nil
	case err != nil:
		return detachedMount{}, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(was, &st); err != nil {
		return detachedMount{}, err
	}
	fd, err := unix.OpenTree(was, "", unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_EMPTY_PATH|unix.AT_RECURSIVE)
	if err != nil {
		return detachedMount{}, fmt.Errorf("copy the tree: %w", err)
	}
	attr := uint64(unix.MOUNT_ATTR_NOSUID)
	if m.How == MountShow {
		attr |= unix.MOUNT_ATTR_RDONLY
	}
	if !strings.HasPrefix(m.Path, "/dev/") {
		attr |= unix.MOUNT_ATTR_NODEV
	}
	return detachedMount{fd: fd, was: was, dir: st.Mode&unix.S_IFMT == unix.S_IFDIR}, setMountAttr(fd, "", attr, unix.AT_EMPTY_PATH|unix.AT_RECURSIVE)
}

// mountLayer mounts an overlay over a part of the host's tree, which is not changed. Paths inside
// of it are looked up in the lower layer.
func mountLayer(m PathMount, from string) (detachedMount, error) {
	was, err := unix.Open(from, unix.O_PATH|unix.O_CLOEXEC|unix.O_DIRECTORY|unix.O_NOFOLLOW, 0)
	if err != nil {
		return detachedMount{}, err
	}
	fs, err := unix.Fsopen("overlay", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return detachedMount{}, fmt.Errorf("layer: %w", err)
	}
	defer func() { _ = unix.Close(fs) }()
	for _, o := range [][2]string{
		{"source", "nexus"}, {"lowerdir+", from}, {"upperdir", filepath.Join(m.Over, "upper")}, {"workdir", filepath.Join(m.Over, "work")},
	} {
		if err := unix.FsconfigSetString(fs, o[0], o[1]); err != nil {
			return detachedMount{}, fmt.Errorf("layer: %s: %w", o[0], err)
		}
	}
	if err := errors.Join(unix.FsconfigSetFlag(fs, "userxattr"), unix.FsconfigCreate(fs)); err != nil {
		return detachedMount{}, fmt.Errorf("layer: %w", err)
	}
	fd, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV)
	if err != nil {
		return detachedMount{}, fmt.Errorf("layer: %w", err)
	}
	return detachedMount{fd: fd, was: was, dir: true}, nil
}

// placeMount adds one mount to the view, whose root is the working directory. No link in the view
// can lead out of it meanwhile.
func placeMount(root *os.Root, m PathMount, from detachedMount, data []byte) error {
	if from.out {
		return nil
	}
	path := strings.TrimPrefix(m.Path, "/")
	if m.How == MountCover {
		return hidePath(root, path)
	}
	if !m.Inner {
		if err := root.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
	}
	switch {
	case m.How == MountLink:
		return root.Symlink(m.From, path)
	case m.How == MountCopy:
		return root.WriteFile(path, data, 0o444) // within the view's own root
	case m.How == MountTmpfs:
		if err := root.MkdirAll(path, 0o755); err != nil {
			return err
		}
		return mountTmpfs(path, "mode=1777", m.Size)
	case m.Inner:
	case from.dir:
		if err := root.MkdirAll(path, 0o755); err != nil {
			return err
		}
	default:
		f, err := root.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o444) // never an existing file
		if err == nil {
			err = f.Close()
		}
		if err != nil && !errors.Is(err, os.ErrExist) && !errors.Is(err, unix.EROFS) {
			return err
		}
	}
	to, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(to) }()
	return unix.MoveMount(from.fd, "", to, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

// Lids are a file and a directory that cover others: they cannot be opened without a capability,
// which no process in the jail has, and their permissions cannot be changed.
const (
	hiddenFileName = ".hidden-file"
	hiddenDirName  = ".hidden-directory"
)

// hidePath mounts a lid on a path of the view; a missing path is skipped.
func hidePath(root *os.Root, path string) error {
	to, err := unix.Openat2(unix.AT_FDCWD, path, &unix.OpenHow{
		Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	if errors.Is(err, os.ErrNotExist) || errors.Is(err, unix.ELOOP) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(to) }()
	var st unix.Stat_t
	if err := unix.Fstat(to, &st); err != nil {
		return err
	}
	lid := hiddenFileName
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		lid = hiddenDirName
		err = root.Mkdir(lid, 0)
	} else if f, failed := root.OpenFile(lid, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0); failed == nil {
		err = f.Close()
	} else {
		err = failed
	}
	if err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	fd, err := unix.OpenTree(unix.AT_FDCWD, lid, unix.OPEN_TREE_CLONE|unix.OPEN_TREE_CLOEXEC|unix.AT_SYMLINK_NOFOLLOW)
	if err != nil {
		return fmt.Errorf("hide files: %w", err)
	}
	defer func() { _ = unix.Close(fd) }()
	if err := setMountAttr(fd, "", unix.MOUNT_ATTR_RDONLY|unix.MOUNT_ATTR_NOSUID|unix.MOUNT_ATTR_NODEV, unix.AT_EMPTY_PATH); err != nil {
		return err
	}
	return unix.MoveMount(fd, "", to, "", unix.MOVE_MOUNT_F_EMPTY_PATH|unix.MOVE_MOUNT_T_EMPTY_PATH)
}

// procMount mounts the processes of the jail. The mount is read-only, because for the machine's
// root some files in it are writable even without capabilities. The highest process number limits
// the number of processes.
func procMount(root *os.Root, l ResourceLimits) error {
	for _, d := range []string{"proc", "run", "dev/pts"} {
		if err := root.MkdirAll(d, 0o755); err != nil {
			return err
		}
	}
	if err := unix.Mount("proc", "proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, ""); err != nil {
		return fmt.Errorf("show /proc: %w", err)
	}
	if l.Processes > 0 && hasOwnPIDLimit() {
		_ = os.WriteFile("proc/sys/kernel/pid_max", strconv.AppendInt(nil, int64(reservedPIDs+l.Processes), 10), 0) // other limits apply, too
	}
	if err := setMountAttr(unix.AT_FDCWD, "proc", unix.MOUNT_ATTR_RDONLY, 0); err != nil {
		return err
	}
	err := unix.Mount("devpts", "dev/pts", "devpts", unix.MS_NOSUID|unix.MS_NOEXEC, "newinstance,ptmxmode=0666,mode=620")
	if err != nil {
		return fmt.Errorf("show /dev/pts: %w", err)
	}
	return nil
}

// reservedPIDs is the number of low process numbers that the kernel does not reuse after a
// wrap-around.
const reservedPIDs = 300

func mountTmpfs(path, options string, size int64) error {
	if size > 0 {
		options += fmt.Sprintf(",size=%d,nr_inodes=%d", size, max(size>>12, 1<<10))
	}
	if err := unix.Mount("nexus", path, "tmpfs", unix.MS_NOSUID|unix.MS_NODEV, options); err != nil {
		return fmt.Errorf("make a tmpfs: %w", err)
	}
	return nil
}

func setMountAttr(dir int, path string, set uint64, flags uint) error {
	if err := unix.MountSetattr(dir, path, flags, &unix.MountAttr{Attr_set: set}); err != nil {
		return fmt.Errorf("restrict a mount: %w", err)
	}
	return nil
}

// hasOwnPIDLimit reports whether each namespace has its own highest process number, as since Linux 6.14.
// Before, there is only the host's.
func hasOwnPIDLimit() bool {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return false
	}
	var major, minor int
	n, _ := fmt.Sscanf(unix.ByteSliceToString(u.Release[:]), "%d.%d", &major, &minor)
	return n == 2 && (major > 6 || major == 6 && minor >= 14)
}
