package filewrite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func TestFail(t *testing.T) {
	for err, want := range map[error]nexus.ErrorCode{
		syscall.EIO: nexus.CodeStorage, syscall.ENOSPC: nexus.CodeDiskFull, syscall.EROFS: nexus.CodeStorage,
		syscall.EACCES: nexus.CodeReadOnly, &nexus.Error{Code: nexus.CodeNotFound}: nexus.CodeNotFound,
	} {
		got := WrapError("do it", fmt.Errorf("deep: %w", err))
		if !errors.Is(got, &nexus.Error{Code: want}) || !errors.Is(got, err) {
			t.Errorf("%v is %v", err, got)
		}
	}
	if WrapError("do it", nil) != nil {
		t.Error("success is a failure")
	}
}

func TestLock(t *testing.T) {
	file := filepath.Join(t.TempDir(), "d", "lock")
	cause := errors.New("enough")
	stopped, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	never := func(context.Context) error { return errors.New("got in") }
	err := WithLock(t.Context(), file, func(ctx context.Context) error {
		if err := WithLock(stopped, file, never); !errors.Is(err, cause) {
			t.Errorf("a second: %v", err)
		}
		if err := WithSharedLock(stopped, file, never); !errors.Is(err, cause) {
			t.Errorf("a share: %v", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	in := 0
	err = WithSharedLock(t.Context(), file, func(ctx context.Context) error {
		return WithSharedLock(ctx, file, func(context.Context) error { in++; return nil })
	})
	if err != nil || in != 1 {
		t.Errorf("two shares: %v", err)
	}
	var inside, n atomic.Int64
	done := make(chan error)
	for range 20 {
		go func() {
			done <- WithLock(t.Context(), file, func(context.Context) error {
				if inside.Add(1) != 1 {
					t.Error("two are inside")
				}
				n.Add(1)
				inside.Add(-1)
				return nil
			})
		}()
	}
	for range 20 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if n.Load() != 20 {
		t.Error(n.Load())
	}
}

func TestRemoveAllAndCopy(t *testing.T) {
	dir := t.TempDir()
	if err := WriteFile(filepath.Join(dir, "a/b/c"), []byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := CopyFile(filepath.Join(dir, "a/b/c"), filepath.Join(dir, "e/f")); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "e/f")); string(data) != "x" || err != nil {
		t.Error(string(data), err)
	}
	if err := CopyFile(filepath.Join(dir, "none"), filepath.Join(dir, "g")); !errors.Is(err, fs.ErrNotExist) {
		t.Error(err)
	}
	os.Chmod(filepath.Join(dir, "a/b"), 0)
	if err := RemoveAll(filepath.Join(dir, "a")); err != nil {
		t.Error(err)
	}
}

// TestReplaceLocked leaves nothing of one that was killed, and writes through no link.
func TestReplaceLocked(t *testing.T) {
	dir := t.TempDir()
	name, half, other := filepath.Join(dir, "a.toml"), filepath.Join(dir, ".a.toml.nexus-new"), filepath.Join(t.TempDir(), "other")
	if err := os.WriteFile(other, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(other, half); err != nil {
		t.Fatal(err)
	}
	for _, mode := range []os.FileMode{0o600, 0o644} {
		if err := ReplaceLockedFile(name, []byte("new"), mode); err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(name); err != nil || info.Mode() != mode {
			t.Errorf("%v, %v", info, err)
		}
	}
	if data, err := os.ReadFile(other); err != nil || string(data) != "mine" {
		t.Errorf("it wrote %q through a link: %v", data, err)
	}
	if all, err := os.ReadDir(dir); err != nil || len(all) != 1 {
		t.Errorf("%d files are there: %v", len(all), err)
	}
	if err := os.MkdirAll(filepath.Join(half, "full"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := ReplaceLockedFile(name, []byte("newer"), 0o600); err == nil {
		t.Error("a directory in its way is taken away")
	}
}
