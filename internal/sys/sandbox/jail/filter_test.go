//go:build linux

package jail

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/syscalltest"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// TestMain makes one system call instead, where it is asked to: behind the
// filter alone where TEST_FILTER says so, with every privilege left.
func TestMain(m *testing.M) {
	if kind := os.Getenv("TEST_FILTER"); kind != "" {
		runtime.LockOSThread()
		f, err := BuildSeccompFilter(kind == "sockets")
		if err == nil {
			err = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		}
		if err == nil {
			err = applySeccompFilter(f)
		}
		if err != nil {
			io.WriteString(os.Stderr, err.Error())
			os.Exit(1)
		}
	}
	if code, mine := syscalltest.RunCallFromArgs(os.Args, os.Stdout); mine {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// made makes a call in a process of its own, and returns its exit code.
func made(t *testing.T, name, filter string) (exit int, signal syscall.Signal, said string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], syscalltest.CallArg, name)
	cmd.Env = append(os.Environ(), "TEST_FILTER="+filter)
	out, err := cmd.CombinedOutput()
	var ended *exec.ExitError
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		signal = s.Signal()
	}
	return cmd.ProcessState.ExitCode(), signal, string(out)
}

// Each call is first seen to reach the kernel, and then refused by nothing but
// the filter.
func TestFilterRefuses(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip(testenv.NoMachine + "without privileges the kernel refuses most of these by itself")
	}
	for name := range maps.Keys(syscalltest.ForbiddenCalls()) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if exit, _, said := made(t, name, ""); exit != syscalltest.CallMade {
				t.Skipf(testenv.NoMachine+"this kernel has no such call: %s", said)
			}
			if exit, _, said := made(t, name, "sockets"); exit != syscalltest.CallRefused {
				t.Errorf("exit %d: %s", exit, said)
			}
		})
	}
}

// These are refused whether this kernel has them or not.
func TestFilterRefusesUnknown(t *testing.T) {
	for name := range maps.Keys(syscalltest.RareCalls()) {
		if exit, _, said := made(t, name, "sockets"); exit != syscalltest.CallRefused {
			t.Errorf("%s: exit %d: %s", name, exit, said)
		}
	}
}

func TestFilterKills(t *testing.T) {
	for _, name := range syscalltest.ForeignCallNames() {
		t.Run(name, func(t *testing.T) {
			if exit, _, said := made(t, name, ""); exit != syscalltest.CallMade { // such as ia32_emulation=off, with which the processor faults
				first, _, _ := strings.Cut(said, "\n")
				t.Skipf(testenv.NoMachine+"this kernel has no such numbering: %s", first)
			}
			if exit, signal, said := made(t, name, "sockets"); signal != syscall.SIGSYS {
				t.Errorf("exit %d, %v: %s", exit, signal, said)
			}
		})
	}
}

// What ordinary programs do continues: this very binary, and sockets.
func TestFilterAllows(t *testing.T) {
	f, err := BuildSeccompFilter(true)
	if err != nil || len(f) < 50 || len(f) > 400 {
		t.Fatalf("%d instructions, %v", len(f), err)
	}
	g, err := BuildSeccompFilter(false)
	if err != nil || slices.Equal(f, g) {
		t.Fatalf("sockets make no difference: %v", err)
	}
	if len(EncodeSeccompFilter(f)) != 8*len(f) || EncodeSeccompFilter(nil) != nil {
		t.Errorf("%d bytes for %d instructions", len(EncodeSeccompFilter(f)), len(f))
	}
}

// Landlock restricts the calling thread alone; it ends with the test.
func TestFence(t *testing.T) {
	if LandlockVersion() == 0 {
		t.Skip(testenv.NoMachine + "no Landlock")
	}
	in, out := t.TempDir(), t.TempDir()
	done := make(chan error)
	go func() { // the thread is not used again
		runtime.LockOSThread()
		err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
		if err == nil {
			err = restrictPaths(JailSpec{Kind: KindNamespaces, Writable: []string{in}})
		}
		done <- err
		inErr, outErr := os.WriteFile(in+"/x", nil, 0o600), os.WriteFile(out+"/x", nil, 0o600)
		_, readErr := os.ReadDir(out)
		if inErr != nil || readErr != nil || !errors.Is(outErr, unix.EACCES) {
			done <- errors.Join(inErr, readErr, outErr, errors.New("wrong"))
		}
		done <- nil
	}()
	for range 2 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// The fence that stands alone keeps TCP away by itself, without the filter:
// whoever breaks one of the two meets the other.
func TestFenceKeepsTCP(t *testing.T) {
	if LandlockVersion() < 4 {
		t.Skip(testenv.NoMachine + "this Landlock knows no ports")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := l.Addr().(*net.TCPAddr).Port
	try := func() (bind, connect error) {
		for i, do := range []func(int, unix.Sockaddr) error{unix.Bind, unix.Connect} {
			fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return err, err
			}
			err = do(fd, &unix.SockaddrInet4{Port: i * port, Addr: [4]byte{127, 0, 0, 1}})
			_ = unix.Close(fd)
			if i == 0 {
				bind = err
			} else {
				connect = err
			}
		}
		return bind, connect
	}
	done := make(chan error, 1)
	go func() { // the thread is not used again
		runtime.LockOSThread()
		bind, connect := try() // the control
		err := errors.Join(bind, connect, unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), restrictPaths(JailSpec{Kind: KindLandlock, Readable: []string{"/"}}))
		if bind, connect = try(); !errors.Is(bind, unix.EACCES) || !errors.Is(connect, unix.EACCES) {
			err = errors.Join(err, fmt.Errorf("bind: %w, connect: %w", bind, connect))
		}
		done <- err
	}()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// What is refused is told to people, by name.
func TestRefusalsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range syscalltest.ForbiddenCalls() {
		word, _, _ := strings.Cut(strings.ReplaceAll(name, ", high", ""), " user")
		for _, space := range []string{"mount", "pid", "net", "ipc", "uts", "cgroup", "time"} {
			word = strings.TrimSuffix(word, " "+space)
		}
		if !strings.Contains(string(page), "`"+word+"`") {
			t.Errorf("docs/security.md does not name %s", word)
		}
	}
}
