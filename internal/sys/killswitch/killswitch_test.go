package killswitch_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/killswitch"
)

func TestThrowAndLift(t *testing.T) {
	wide, own := t.TempDir(), filepath.Join(t.TempDir(), "not", "there")
	s := killswitch.Switch{wide, own}
	if st := s.ActiveStop(); st != nil {
		t.Fatalf("thrown though nobody did: %+v", st)
	}
	if err := killswitch.SwitchOn(own, "first"); err != nil {
		t.Fatal(err)
	}
	if err := killswitch.SwitchOn(own, "second"); err != nil {
		t.Fatal(err)
	}
	st := s.ActiveStop()
	if st == nil || st.Path != filepath.Join(own, killswitch.FileName) || st.Why != "first" || st.At.IsZero() {
		t.Fatalf("%+v", st)
	}
	if err := st.Err(); !errors.Is(err, &nexus.Error{Code: nexus.CodeHalted}) || !strings.Contains(err.Error(), "first") {
		t.Error(err)
	}
	for _, want := range []bool{true, false} {
		if was, err := killswitch.SwitchOff(own); was != want || err != nil {
			t.Errorf("lifted %v (%v)", was, err)
		}
	}
	if st := s.ActiveStop(); st != nil {
		t.Errorf("%+v", st)
	}
}

// TestAnythingCounts takes whatever lies there for a thrown switch, and is
// neither held up nor fooled by what it holds.
func TestAnythingCounts(t *testing.T) {
	for name, lay := range map[string]func(path string) error{
		"empty":     func(p string) error { return os.WriteFile(p, nil, 0o600) },
		"directory": func(p string) error { return os.Mkdir(p, 0o700) },
		"fifo":      func(p string) error { return syscall.Mkfifo(p, 0o600) },
		"dangling":  func(p string) error { return os.Symlink("nowhere", p) },
		"unread":    func(p string) error { return os.WriteFile(p, []byte("x"), 0) },
		"huge":      func(p string) error { return os.WriteFile(p, make([]byte, 1<<20), 0o600) },
		"escapes":   func(p string) error { return os.WriteFile(p, []byte("\x1b[2Jgone\n\xff\u202egnol"), 0o600) },
	} {
		dir := t.TempDir()
		if err := lay(filepath.Join(dir, killswitch.FileName)); err != nil {
			t.Fatal(err)
		}
		st := killswitch.Switch{dir}.ActiveStop()
		if st == nil {
			t.Errorf("%s does not count", name)
		} else if len(st.Why) > 8_000 || strings.ContainsAny(st.Why, "\x1b\n\u202e") {
			t.Errorf("%s says %q", name, st.Why)
		}
	}
	if os.Getuid() == 0 {
		return // nothing is closed to root
	}
	dir := t.TempDir()
	if err := os.Chmod(dir, 0); err != nil {
		t.Fatal(err)
	}
	if st := (killswitch.Switch{dir}).ActiveStop(); st == nil {
		t.Error("what cannot be looked at does not count")
	}
}

func TestWatch(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		heard := make(chan *killswitch.ActiveKillSwitch, 1)
		began := time.Now()
		go func() { heard <- killswitch.Switch{dir}.WaitUntilActive(ctx) }()
		time.Sleep(time.Minute + time.Millisecond)
		if err := killswitch.SwitchOn(dir, "now"); err != nil {
			t.Fatal(err)
		}
		if st := <-heard; st == nil || time.Since(began) > time.Minute+time.Millisecond+killswitch.PollInterval {
			t.Errorf("heard %+v after %s", st, time.Since(began))
		}
		if _, err := killswitch.SwitchOff(dir); err != nil {
			t.Fatal(err)
		}
		go func() { heard <- killswitch.Switch{dir}.WaitUntilActive(ctx) }()
		cancel(nil)
		if st := <-heard; st != nil {
			t.Errorf("%+v", st)
		}
	})
}
