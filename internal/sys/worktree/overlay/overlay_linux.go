package overlay

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// MountOverlay mounts l. Renaming a directory does not copy it, and unmounting does not wait for the
// disk.
func MountOverlay(l Layers) error {
	for _, d := range []string{l.Lower, l.Upper, l.Work, l.Dir} {
		if strings.ContainsAny(d, `,:\"`) {
			return fmt.Errorf("%w at %s: its path cannot be an option", ErrNone, d)
		}
	}
	// A leftover of an earlier volatile mount would prevent this one.
	if err := os.RemoveAll(filepath.Join(l.Work, "work", "incompat")); err != nil {
		return err
	}
	options := fmt.Sprintf("lowerdir=%s,upperdir=%s,workdir=%s,redirect_dir=on,metacopy=off,index=off,volatile",
		l.Lower, l.Upper, l.Work)
	if err := unix.Mount("nexus", l.Dir, "overlay", unix.MS_NODEV|unix.MS_NOSUID, options); err != nil {
		return fmt.Errorf("%w at %s: %w", ErrNone, l.Dir, err)
	}
	return nil
}

// Unmount unmounts the file system at dir immediately; processes keep the files that they have
// open.
func Unmount(dir string) error {
	err := unix.Unmount(dir, unix.UMOUNT_NOFOLLOW)
	if errors.Is(err, unix.EBUSY) {
		err = unix.Unmount(dir, unix.UMOUNT_NOFOLLOW|unix.MNT_DETACH)
	}
	if err != nil {
		return &fs.PathError{Op: "unmount", Path: dir, Err: err}
	}
	return nil
}

// IsMounted reports whether a file system is mounted at dir, which must not be a link: then its
// device differs from that of its parent directory.
func IsMounted(dir string) (bool, error) {
	var in, at unix.Stat_t
	if err := unix.Lstat(filepath.Dir(dir), &in); err != nil {
		return false, &fs.PathError{Op: "lstat", Path: filepath.Dir(dir), Err: err}
	}
	if err := unix.Lstat(dir, &at); err != nil {
		return false, &fs.PathError{Op: "lstat", Path: dir, Err: err}
	}
	return at.Dev != in.Dev, nil
}

// MountsBelow lists the overlays mounted at dir and below, deepest first.
func MountsBelow(dir string) ([]string, error) {
	data, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	all := parseMounts(string(data), dir)
	slices.Sort(all)
	slices.Reverse(all)
	return all, nil
}

// parseMounts parses mountinfo: "36 35 98:0 /root /at options - type source options", with blanks
// in paths as \040.
func parseMounts(info, dir string) []string {
	var all []string
	for line := range strings.Lines(info) {
		f := strings.Fields(line)
		i := slices.Index(f, "-")
		if len(f) < 7 || i < 6 || i+1 >= len(f) || f[i+1] != "overlay" {
			continue
		}
		at := unescapeOctal(f[4])
		if at == dir || strings.HasPrefix(at, strings.TrimSuffix(dir, "/")+"/") {
			all = append(all, at)
		}
	}
	return all
}

// unescapeOctal replaces \ooo by the byte with that octal value.
func unescapeOctal(s string) string {
	var b bytes.Buffer
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// ProbeOverlay returns an error if overlays cannot be used below dir, which it creates and removes. It
// mounts one and tests the usual operations: write, rename a directory, delete.
func ProbeOverlay(dir string) (err error) {
	l := probeLayers(dir)
	for _, d := range []string{filepath.Join(l.Lower, "a", "b"), l.Upper, l.Work, l.Dir} {
		if err := os.MkdirAll(d, 0o700); err != nil {
			return err
		}
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := os.WriteFile(filepath.Join(l.Lower, "a", "b", "f"), []byte("f"), 0o600); err != nil {
		return err
	}
	if err := MountOverlay(l); err != nil {
		return err
	}
	return errors.Join(tryOverlay(l), Unmount(l.Dir))
}

func tryOverlay(l Layers) error {
	if err := os.Rename(filepath.Join(l.Dir, "a"), filepath.Join(l.Dir, "c")); err != nil {
		return fmt.Errorf("%w: %w", ErrNone, err)
	}
	f := filepath.Join(l.Dir, "c", "b", "f")
	if err := os.WriteFile(f, []byte("g"), 0o600); err != nil {
		return fmt.Errorf("%w: %w", ErrNone, err)
	}
	below, err := os.ReadFile(filepath.Join(l.Lower, "a", "b", "f"))
	if err != nil || string(below) != "f" {
		return fmt.Errorf("%w: the lower layer changed: %w", ErrNone, err)
	}
	var b [64]byte
	if _, err := unix.Lgetxattr(filepath.Join(l.Upper, "c"), "trusted.overlay.redirect", b[:]); err != nil {
		return fmt.Errorf("%w: redirects cannot be read: %w", ErrNone, err)
	}
	return nil
}
