package backgroundprocess

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// share starts a process beside this one, which does what.
func share(t *testing.T, what ...string) ProcessExit {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	end, err := RunInTerminal(Options{Exe: exe, Args: what, Env: os.Environ()})
	if err != nil {
		t.Fatal(err)
	}
	if end.PID <= 0 {
		t.Errorf("process %d", end.PID)
	}
	end.PID = 0
	return end
}

func TestEndsAsTheProcessBeside(t *testing.T) {
	if end := share(t, "fail"); end != (ProcessExit{Code: 3}) {
		t.Errorf("%+v", end)
	}
	if end := share(t, "killed"); end != (ProcessExit{Code: -1, Signal: syscall.SIGKILL}) {
		t.Errorf("%+v", end)
	}
	if end, err := RunInTerminal(Options{Exe: filepath.Join(t.TempDir(), "none")}); end.PID != 0 || err == nil {
		t.Errorf("%+v, %v", end, err)
	}
}

// TestLeaves holds that a process that leaves writes to its log from then on, reads
// nothing, and lets its parent go.
func TestLeaves(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	if end := share(t, "leave", log); end != (ProcessExit{Left: "r1"}) {
		t.Errorf("%+v", end)
	}
	awaitText(t, log, `read "", 2 of 2`+"\n")

	was := os.Stdout
	defer func() { os.Stdout = was }()
	kept := filepath.Join(t.TempDir(), "kept")
	var err error
	if os.Stdout, err = os.Create(kept); err != nil {
		t.Fatal(err)
	}
	defer os.Stdout.Close()
	if end := share(t, "leave", log); end != (ProcessExit{Left: "r1"}) {
		t.Errorf("%+v", end)
	}
	awaitText(t, log, "2 of 2\n")
	awaitText(t, kept, `read "", `)
}

// TestHandsSignalsOn holds that what asks this process to end reaches the one beside it,
// and that a closed terminal is told apart from that.
func TestHandsSignalsOn(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		ready := filepath.Join(t.TempDir(), "ready")
		go func() {
			awaitText(t, ready, "waiting")
			if err := syscall.Kill(os.Getpid(), s); err != nil {
				t.Error(err)
			}
		}()
		if end := share(t, "signalled", ready); end != (ProcessExit{Code: int(s)}) {
			t.Errorf("%s: %+v", s, end)
		}
	}
}

// awaitText waits until a file has the text.
func awaitText(t *testing.T, path, want string) {
	t.Helper()
	var data []byte
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); {
		if data, _ = os.ReadFile(path); string(data) == want { // it may not be there yet
			return
		}
	}
	t.Errorf("%s: %q, want %q", path, data, want)
}
