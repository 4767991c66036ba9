//go:build linux

package sandbox

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/proc"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// Those limits that the kernel keeps are there, and cannot be raised.
func TestKernelLimits(t *testing.T) {
	walled(t, func(t *testing.T, b *Box) {
		t.Helper()
		c := Command{Dir: t.TempDir(), Limits: ResourceLimits{FileSize: 1 << 20, OpenFiles: 100, Tmp: 1 << 20}}
		if r := sh(t, b, c, `head -c 1000000 /dev/zero >small`); r.Exit != 0 {
			t.Fatalf("control: exit %d: %s", r.Exit, r.Stderr)
		}
		if r := sh(t, b, c, `head -c 3000000 /dev/zero >large`); r.Exit == 0 {
			t.Error("a large file was written")
		}
		if info, err := os.Stat(filepath.Join(c.Dir, "large")); err != nil || info.Size() > 1<<20 {
			t.Errorf("large: %v, %v", info.Size(), err)
		}
		r := sh(t, b, c, `ulimit -n; ulimit -c; ulimit -n 1000 && echo raised; ulimit -f unlimited && echo raised`)
		if !strings.HasPrefix(string(r.Stdout), "100\n0\n") || strings.Contains(string(r.Stdout), "raised") {
			t.Errorf("limits: %s%s", r.Stdout, r.Stderr)
		}
		if !b.HidesHost() {
			return
		}
		for _, dir := range []string{"/tmp", "/dev/shm", "/dev", "/", "/run"} {
			script := `for i in 1 2 3 4; do head -c 500000 /dev/zero >` + dir + `/x$i || exit 9; done`
			if r := sh(t, b, c, script); r.Exit == 0 {
				t.Errorf("filled %s", dir)
			}
		}
	})
}

func TestWatchedLimits(t *testing.T) {
	testenv.NeedTool(t, "perl")
	perl, err := exec.LookPath("perl")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("/dev/shm", "nexus-test-") //nolint:usetesting // a disk that few others write to
	if err != nil {
		testenv.NeedMachine(t, "a file in /dev/shm", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	greedy := perl + ` -e '$x = "x" x (300 << 20); print "have"; sleep($ENV{T})'`
	walled(t, func(t *testing.T, b *Box) {
		t.Helper()
		if r := sh(t, b, Command{Dir: dir, Limits: ResourceLimits{Memory: 4 << 30}}, `T=0 `+greedy); r.Exit != 0 || r.Over != "" {
			t.Fatalf("control: %+v", r)
		}
		for want, c := range map[ExceededLimit]struct {
			limits ResourceLimits
			script string
		}{
			OverMemory:    {ResourceLimits{Memory: 100 << 20}, `T=1000 ` + greedy},
			OverProcesses: {ResourceLimits{Processes: 30}, `for i in $(seq 25); do (sleep 1000 & sleep 1000 & wait) & done; wait; sleep 1000`},
			OverDisk:      {ResourceLimits{Disk: 20 << 20}, `for i in 1 2 3 4 5; do head -c 10000000 /dev/zero >x$i; done; echo; sleep 1000`},
		} {
			began, tree := time.Now(), filepath.Join(dir, b.Name()+string(want))
			if err := os.Mkdir(tree, 0o700); err != nil {
				t.Fatal(err)
			}
			r := sh(t, b, Command{Dir: tree, Limits: c.limits, Timeout: 2 * time.Minute}, c.script)
			kept := want == OverProcesses && r.Over == "" && (r.TimedOut || r.Exit != 0) // the kernel did not let it
			if r.Over != want && !kept {
				t.Errorf("%s: over %q after %s, exit %d, %v: %s", want, r.Over, time.Since(began), r.Exit, r.TimedOut, r.Stderr)
			}
		}
	})
}

// Where control groups can be made, a command is in its own, whatever kind of
// thing it bounds.
func TestOwnGroup(t *testing.T) {
	walled(t, func(t *testing.T, b *Box) {
		t.Helper()
		if b.groups == nil {
			t.Skip(testenv.NoMachine + "no control group can be made here")
		}
		r := sh(t, b, Command{}, "cat /proc/self/cgroup")
		for _, kind := range b.groups.LimitedResources() {
			in := false
			for line := range strings.Lines(string(r.Stdout)) {
				f := strings.SplitN(strings.TrimSpace(line), ":", 3)
				in = in || len(f) == 3 && (f[1] == "" || slices.Contains(strings.Split(f[1], ","), kind)) && strings.Contains(f[2], "nexusbox-")
			}
			if !in {
				t.Errorf("%s: %q", kind, r.Stdout)
			}
		}
	})
}

// No signal that a command sends ends the box, or keeps it from saying how the
// command ended; and the command itself has none ignored that this process has
// not: make ignores signal 32 for whom it starts.
func TestDeaf(t *testing.T) {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, own, _ := strings.Cut(string(status), "SigIgn:\t")
	own, _, _ = strings.Cut(own, "\n")
	spaces(t, func(t *testing.T, b *Box) {
		t.Helper()
		r := sh(t, b, Command{}, `for n in $(seq 1 64); do kill -$n 1 2>/dev/null; done; grep SigIgn /proc/self/status; grep -c . /proc/1/comm; exit 7`)
		if out := string(r.Stdout); r.Exit != 7 || !strings.Contains(out, "0000000000000000\n1\n") && (b.mode == ModeNative || !strings.Contains(out, own+"\n1\n")) {
			t.Errorf("%+v: %s%s", r, r.Stdout, r.Stderr)
		}
	})
}

// A command that only makes copies of itself ends at its limit, and leaves
// nobody.
func TestForkBomb(t *testing.T) {
	spaces(t, func(t *testing.T, b *Box) {
		t.Helper()
		if b.mode == ModeBwrap && os.Geteuid() == 0 && !slices.Contains(b.groups.LimitedResources(), "pids") {
			t.Skip(testenv.NoMachine + "the kernel does not count root's processes for bubblewrap without a control group: what is only watched stalls the machine first")
		}
		arg := unique(t)
		r := sh(t, b, Command{Limits: ResourceLimits{Processes: 60}, Timeout: 20 * time.Second}, `b() { sleep `+arg+` & b | b & }; b; wait; sleep 5`)
		if left := sleepers(arg); left != nil {
			t.Errorf("left %d: %+v", len(left), r)
		}
	})
}

func TestWritten(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "old"), strings.Repeat("x", 100_000))
	if got := proc.WrittenBytes(dir, time.Now().Add(time.Hour), 1<<40); got != 0 {
		t.Errorf("%d bytes of old files", got)
	}
	if got := proc.WrittenBytes(dir, time.Now().Add(-time.Hour), 1<<40); got < 100_000 {
		t.Errorf("%d bytes of new files", got)
	}
	if proc.FreeDiskBytes(dir) <= 0 || proc.FreeDiskBytes("/no/such") != 0 || proc.MachineMemory() < 1<<20 {
		t.Error("the machine is not known")
	}
}

func TestUsual(t *testing.T) {
	u := DefaultLimits()
	if u.Memory <= 0 || u.Processes < 512 || u.FileSize <= 0 || u.OpenFiles <= 0 || u.Disk <= 0 || u.Tmp <= 0 {
		t.Errorf("no limit: %+v", u)
	}
	if l := limitsOrDefault(ResourceLimits{Memory: 5}, u); l.Memory != 5 || l.Disk != u.Disk {
		t.Errorf("got %+v", l)
	}
}
