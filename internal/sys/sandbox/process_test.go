package sandbox

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/proc"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// child names the mark of a process that is to be killed; see
// TestDeadWithItsProcess and TestMain.
const child = "NEXUS_PIPED_TEST"

// beKilled starts a program with a daemon, says so, and waits for its end.
func beKilled(mark string, mode ConfinementMode, dir string) {
	ctx := context.Background()
	b, err := FindSandbox(ctx, mode)
	if err != nil {
		panic(err)
	}
	p, err := StartProcess(ctx, b.Run, command(dir, mark, "setsid sleep 1000 & echo on; cat"))
	if err != nil {
		panic(err)
	}
	if _, err := p.Read(make([]byte, 1)); err != nil {
		panic(err)
	}
	_ = os.WriteFile(filepath.Join(dir, "on"), nil, 0o600)
	select {}
}

func command(dir, mark, script string) Command {
	return Command{Args: []string{"/bin/sh", "-c", script}, Dir: dir, Env: AgentCommandEnv(), Mark: mark, Cap: 100}
}

// boxes runs a test in every box that works here, and insists on one.
func boxes(t *testing.T, do func(t *testing.T, b *Box)) {
	t.Helper()
	for _, mode := range []ConfinementMode{ModeAuto, ModeNative, ModeBwrap, ModeLandlock, ModeOff} {
		t.Run(string(mode), func(t *testing.T) {
			b, err := FindSandbox(t.Context(), mode)
			if err != nil && mode == ModeBwrap {
				testenv.NeedTool(t, "bwrap")
			}
			testenv.NeedMachine(t, "a sandbox", err)
			do(t, b)
		})
	}
}

func TestTalk(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	boxes(t, func(t *testing.T, b *Box) {
		t.Helper()
		p, err := StartProcess(t.Context(), b.Run, command(t.TempDir(), "piped-talk", `while read -r l; do echo "got $l"; echo "heard $l" >&2; done; exit 3`))
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		r := bufio.NewReader(p)
		for i := range 100 {
			fmt.Fprintf(p, "line %d\n", i)
			if got, err := r.ReadString('\n'); err != nil || got != fmt.Sprintf("got line %d\n", i) {
				t.Fatalf("read %q, %v", got, err)
			}
		}
		p.Close()
		res, err := p.Result()
		if err != nil || res.Exit != 3 {
			t.Errorf("ended with %d, %v; its input had ended", res.Exit, err)
		}
		said := string(res.Stderr)
		if !strings.HasPrefix(said, "heard line 0\n") || !strings.HasSuffix(said, "heard line 99\n") || !strings.Contains(said, "bytes left out") {
			t.Errorf("standard error: %q", said)
		}
		if len(res.Stdout) != 0 {
			t.Errorf("standard output was kept: %q", res.Stdout)
		}
	})
}

// TestClose closes on a program that does not care for its input, and that
// has a daemon.
func TestClose(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	boxes(t, func(t *testing.T, b *Box) {
		t.Helper()
		const mark = "piped-close"
		p, err := StartProcess(t.Context(), b.Run, command(t.TempDir(), mark, `trap "" TERM HUP; setsid sleep 1000 & echo on; sleep 1000; sleep 1000`))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		if proc.CountProcessesOf(mark) == 0 {
			t.Error("control: nothing runs")
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Result(); !errors.Is(err, ErrPipesClosed) {
			t.Errorf("ended with %v", err)
		}
		if n := proc.CountProcessesOf(mark); n != 0 {
			t.Errorf("%d processes were left", n)
		}
	})
}

func TestDeadWithItsContext(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	boxes(t, func(t *testing.T, b *Box) {
		t.Helper()
		ctx, stop := context.WithCancelCause(t.Context())
		p, err := StartProcess(ctx, b.Run, command(t.TempDir(), "piped-context", "echo on; sleep 1000"))
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if _, err := p.Read(make([]byte, 1)); err != nil {
			t.Fatal(err)
		}
		why := errors.New("enough")
		stop(why)
		if _, err := io.ReadAll(p); err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("read to the end: %v", err)
		}
		if _, err := p.Result(); !errors.Is(err, why) {
			t.Errorf("ended with %v", err)
		}
		for range 100 { // what still fits into the pipe
			if _, err = p.Write(make([]byte, 4096)); err != nil {
				break
			}
		}
		if err == nil {
			t.Error("a dead program can be written to")
		}
	})
}

func TestMissing(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	boxes(t, func(t *testing.T, b *Box) {
		t.Helper()
		c := command(t.TempDir(), "piped-missing", "")
		c.Args = []string{"no-such-program-here"}
		p, err := StartProcess(t.Context(), b.Run, c)
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
		if _, err := p.Result(); !errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
			t.Errorf("ended with %v", err)
		}
	})
}

// TestDeadWithItsProcess kills the process that talks: in a box that confines,
// the program dies with it, and without one the sweep finds it.
func TestDeadWithItsProcess(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	boxes(t, func(t *testing.T, b *Box) {
		t.Helper()
		dir, mark := t.TempDir(), "piped-killed-"+b.Name()
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), child+"="+mark, child+"_BOX="+b.Name(), child+"_DIR="+dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		await(t, func() bool { _, err := os.Stat(filepath.Join(dir, "on")); return err == nil })
		if proc.CountProcessesOf(mark) == 0 {
			t.Error("control: nothing runs")
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Wait()
		if !b.HidesHost() {
			if _, err := proc.KillProcessesOf(mark); err != nil {
				t.Error(err)
			}
		}
		await(t, func() bool { return proc.CountProcessesOf(mark) == 0 })
	})
}

func await(t *testing.T, ok func() bool) {
	t.Helper()
	for range 6000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("it did not come to that within a minute")
}
