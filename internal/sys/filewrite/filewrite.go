// Package filewrite adds file operations to the standard library: small atomic writes, locks across
// processes, removal of directories without permissions, and errors with instructions for a
// failing disk.
package filewrite

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// WrapError wraps the error of a disk operation; nil stays nil, and an error with a code of its
// own stays as it is.
func WrapError(what string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*nexus.Error](err); ok {
		return err
	}
	code, hint := nexus.CodeStorage, "Put the state directory on a disk that can be written."
	switch {
	case isDiskFull(err):
		code, hint = nexus.CodeDiskFull, "Free some space, then resume the run."
	case errors.Is(err, fs.ErrPermission):
		code = nexus.CodeReadOnly
	}
	return &nexus.Error{Code: code, Message: what, Hint: hint, Cause: err}
}

// WrapExternalDiskError is [WrapError] for the error of another program that worked in a directory. Such a
// program reports a full disk in words of its own.
func WrapExternalDiskError(dir string, err error) error {
	if err == nil {
		return nil
	}
	if is, _ := CheckSpace(dir); !is {
		return err
	}
	return &nexus.Error{
		Code: nexus.CodeDiskFull, Message: "write below " + dir,
		Hint: "Free space on the disk that holds it, then run nexus resume.", Cause: err,
	}
}

// WriteFile writes a private file and creates its directory.
func WriteFile(name string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return WrapError("make a directory", err)
	}
	return WrapError("write a file", os.WriteFile(name, data, 0o600))
}

// ReplaceFile replaces a private file atomically after all data is on the disk: a reader sees the old
// or the new content. It creates the directory.
func ReplaceFile(name string, data []byte) error { return ReplaceFileWithMode(name, data, 0o600) }

// ReplaceFileWithMode is Replace for a file with another mode.
func ReplaceFileWithMode(name string, data []byte, mode os.FileMode) error {
	return replaceFile(name, data, mode, func(dir string) (*os.File, error) { return os.CreateTemp(dir, ".new-*") })
}

// ReplaceLockedFile is [ReplaceFileWithMode] for a caller that holds a lock for the file: it also removes
// the leftover of a killed process.
func ReplaceLockedFile(name string, data []byte, mode os.FileMode) error {
	return replaceFile(name, data, mode, func(dir string) (*os.File, error) {
		half := filepath.Join(dir, "."+filepath.Base(name)+".nexus-new")
		if err := os.Remove(half); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		return os.OpenFile(half, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600) // never through a link
	})
}

// replaceFile replaces a file; create makes a new file with mode 0600 in its directory.
func replaceFile(name string, data []byte, mode os.FileMode, create func(dir string) (*os.File, error)) error {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return WrapError("make a directory", err)
	}
	f, err := create(dir)
	if err != nil {
		return WrapError("write a file", err)
	}
	_, err = f.Write(data)
	if err == nil && mode != 0o600 {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return WrapError("write a file", errors.Join(err, os.Remove(f.Name())))
	}
	return nil
}

// CopyFile copies a file, by reference if the file system can. A missing file is an fs.ErrNotExist.
func CopyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close() //nolint:errcheck // only read
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// RemoveAll is os.RemoveAll that also enters directories without permission for their owner.
func RemoveAll(dir string) error {
	err := os.RemoveAll(dir)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	walked := filepath.WalkDir(dir, func(p string, d fs.DirEntry, _ error) error {
		if d != nil && d.IsDir() {
			return os.Chmod(p, 0o700)
		}
		return nil
	})
	return errors.Join(walked, os.RemoveAll(dir))
}

// lockPoll is the interval between attempts to get a lock.
const lockPoll = 5 * time.Millisecond

// WithLock runs do while it holds the exclusive lock of that file, across processes.
func WithLock(ctx context.Context, file string, do func(context.Context) error) error {
	return withLock(ctx, file, (*flock.Flock).TryLockContext, do)
}

// WithSharedLock runs do while it holds the shared lock of that file, which excludes [WithLock].
func WithSharedLock(ctx context.Context, file string, do func(context.Context) error) error {
	return withLock(ctx, file, (*flock.Flock).TryRLockContext, do)
}

func withLock(ctx context.Context, file string, take func(*flock.Flock, context.Context, time.Duration) (bool, error),
	do func(context.Context) error,
) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return WrapError("make a lock", err)
	}
	l := flock.New(file)
	if ok, err := take(l, ctx, lockPoll); err != nil || !ok {
		return WrapError("take the lock "+file, errors.Join(err, context.Cause(ctx)))
	}
	return errors.Join(do(ctx), l.Close())
}
