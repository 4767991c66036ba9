package journal_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// bwrap returns the beginning of a command that changes what a child sees of
// the disk, or skips.
func bwrap(t *testing.T, args ...string) []string {
	t.Helper()
	testenv.NeedTool(t, "bwrap")
	wrap := append([]string{"bwrap", "--bind", "/", "/", "--dev-bind", "/dev", "/dev"}, args...)
	if err := exec.CommandContext(t.Context(), wrap[0], append(wrap[1:], "true")...).Run(); err != nil {
		testenv.NeedMachine(t, "bubblewrap", err)
	}
	return append(wrap, "--")
}

// TestDiskFull fills a real disk of 3 MB, finds the journal refusing with a
// reason, frees space, and continues.
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "journal.db")
	wrap := bwrap(t, "--size", strconv.Itoa(3<<20), "--tmpfs", dir)
	script := fmt.Sprintf(`head -c 1000000 /dev/zero >%q.ballast && exec "$@"`, path)
	must(t, again(t, "full", path, append(wrap, "sh", "-c", script, "sh")...))
}

func TestReadOnlyDisk(t *testing.T) {
	path := written(t)
	must(t, again(t, "readonly", path, bwrap(t, "--ro-bind", filepath.Dir(path), filepath.Dir(path))...))
}

func TestFailedWriteIsFinal(t *testing.T) {
	must(t, again(t, "limit", filepath.Join(t.TempDir(), "journal.db")))
}

func TestFailedSyncIsFinal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	out, err := again(t, "sync", path).CombinedOutput()
	if strings.HasPrefix(string(out), "skip:") {
		t.Skip(testenv.NoMachine + string(out))
	}
	if err != nil || string(out) != "refused\n" {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := sound(path, 64); err != nil { // and the dead process's lease is free
		t.Error(err)
	}
}

// TestKill kills a process that appends, again and again. What it was told is
// durable is there, what is there is sound, the next process has the lease at
// once, and a follower in this process misses nothing.
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := openAt(t, path)
	var followed atomic.Int64
	var wait sync.WaitGroup
	wait.Go(func() {
		for e, err := range j.Follow(t.Context(), "", 0) {
			if err != nil {
				t.Errorf("follow: %v", err)
				return
			}
			if e.Seq != followed.Add(1) {
				t.Errorf("after %d follows %d", followed.Load()-1, e.Seq)
				return
			}
			if f, ok := e.Fact.(nexus.RunEnded); ok && f.Status == nexus.StatusDone {
				return
			}
		}
	})
	var acknowledged int64
	for range 25 {
		last := killOne(t, again(t, "append", path), 1+rand.IntN(20))
		acknowledged = max(acknowledged, last)
		r, err := j.Verify(t.Context())
		if err != nil || !r.Sound || r.Events < acknowledged {
			t.Fatalf("%d events were acknowledged, the journal has %+v (%v)", acknowledged, r, err)
		}
	}
	n := 0
	for e, err := range j.Events(t.Context(), "r", 0) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		if f, ok := e.Fact.(nexus.TaskParked); !ok || f.Task != nexus.TaskID(fmt.Sprint(n)) {
			t.Fatalf("event %d is %+v", n, e)
		}
	}
	if _, err := acquire(t, j, "r").Append(t.Context(), nexus.RunEnded{Status: nexus.StatusDone}); err != nil {
		t.Fatal(err)
	}
	wait.Wait()
	t.Logf("%d events after 25 kills, %d acknowledged", n, acknowledged)
}

// killOne starts a process, kills it some time after it has said so many
// lines, and returns the last number that it said.
func killOne(t *testing.T, cmd *exec.Cmd, lines int) (last int64) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewReader(out)
	for n := 0; ; n++ {
		line, err := said.ReadString('\n')
		if errors.Is(err, io.EOF) || errors.Is(err, os.ErrClosed) {
			break // a line that was cut off was not said
		}
		if err != nil {
			t.Fatal(err)
		}
		if last, err = strconv.ParseInt(strings.TrimSpace(line), 10, 64); err != nil {
			t.Fatalf("the child says %q", line)
		}
		if n == lines {
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	cmd.Wait()
	if last == 0 {
		t.Fatal("the child said nothing")
	}
	return last
}

// TestTakeOver: a dead holder's run is free at once, a living one's is not.
func TestTakeOver(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := openAt(t, path)
	cmd := again(t, "hold", path)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewReader(out)
	if line, err := said.ReadString('\n'); err != nil || line != "1\n" {
		t.Fatalf("the child's fence is %q, %v", line, err)
	}
	_, err = j.Acquire(t.Context(), "r", journal.CallingProcess(), time.Minute)
	wantCode(t, err, nexus.CodeRunHeld)
	if !strings.Contains(err.Error(), strconv.Itoa(cmd.Process.Pid)) {
		t.Errorf("the error does not name the process: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	said.ReadString('\n') // the pipe ends a moment before the process does; nobody has waited for it yet
	deadline := time.Now().Add(10 * time.Second)
	l, err := j.Acquire(t.Context(), "r", journal.CallingProcess(), time.Minute)
	for errors.Is(err, &nexus.Error{Code: nexus.CodeRunHeld}) && time.Now().Before(deadline) {
		l, err = j.Acquire(t.Context(), "r", journal.CallingProcess(), time.Minute)
	}
	if err != nil {
		t.Fatal(err)
	}
	if l.Fence() != 2 {
		t.Errorf("fence is %d, want 2", l.Fence())
	}
	cmd.Wait()
}

// TestAnotherNamespace: the process number of a holder in another namespace is
// somebody else's here, and the holder lives.
func TestAnotherNamespace(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j := openAt(t, path)
	cmd := again(t, "hold", path, bwrap(t, "--unshare-pid", "--proc", "/proc")...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "1\n" {
		t.Fatalf("the child's fence is %q, %v", line, err)
	}
	_, err = j.Acquire(t.Context(), "r", journal.CallingProcess(), time.Minute)
	wantCode(t, err, nexus.CodeRunHeld)
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
}

// TestReusedProcessID: a process with the holder's number that started at
// another time is another process.
func TestReusedProcessID(t *testing.T) {
	self := journal.CallingProcess()
	if self.PID != os.Getpid() || self.Host == "" || self.Start == 0 {
		t.Fatalf("this process is %+v", self)
	}
	for name, c := range map[string]struct {
		change func(p *nexus.RunProcess)
		free   bool
	}{
		"the same":      {func(*nexus.RunProcess) {}, false},
		"another start": {func(p *nexus.RunProcess) { p.Start-- }, true},
		"no start":      {func(p *nexus.RunProcess) { p.Start = 0 }, false},
		"no process":    {func(p *nexus.RunProcess) { p.PID = 1 << 30 }, true},
		"another host":  {func(p *nexus.RunProcess) { p.PID, p.Host = 1<<30, "elsewhere.invalid" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			j := open(t)
			p := self
			c.change(&p)
			if _, err := j.Acquire(t.Context(), "r", p, time.Minute); err != nil {
				t.Fatal(err)
			}
			_, err := j.Acquire(t.Context(), "r", self, time.Minute)
			if c.free && err != nil {
				t.Error(err)
			}
			if !c.free {
				wantCode(t, err, nexus.CodeRunHeld)
			}
		})
	}
}

// TestAnotherPlace: process numbers of another boot or another namespace say
// nothing, except that another boot's processes are gone.
func TestAnotherPlace(t *testing.T) {
	for name, c := range map[string]struct {
		set  string
		free bool
	}{
		"another boot":      {"update lease set place = 'another ' || substr(place, instr(place, ' ') + 1)", true},
		"another namespace": {"update lease set place = place || '0', pid = 1073741824", false},
		"unknown":           {"update lease set place = ' ', pid = 1073741824", false},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "journal.db")
			j := openAt(t, path)
			acquire(t, j, "r")
			tamper(t, path, c.set)
			_, err := j.Acquire(t.Context(), "r", journal.CallingProcess(), time.Minute)
			if c.free && err != nil {
				t.Error(err)
			}
			if !c.free {
				wantCode(t, err, nexus.CodeRunHeld)
			}
		})
	}
}
