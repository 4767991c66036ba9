package journal_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

// child names what this program does when a test starts it again.
const child = "JOURNAL_TEST_CHILD"

func TestMain(m *testing.M) {
	var do func(path string) error
	switch os.Getenv(child) {
	case "":
		os.Exit(m.Run())
	case "append":
		do = appendForever
	case "hold":
		do = hold
	case "full":
		do = fillDisk
	case "readonly":
		do = openReadOnlyDisk
	case "limit":
		do = failWrites
	case "fail":
		do = failEach
	case "sync":
		do = failSyncs
	}
	if err := do(os.Args[1]); err != nil {
		fmt.Println("child:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

// again returns a command that starts this program as a child.
func again(t *testing.T, do, path string, wrap ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := append(wrap, self, path)
	cmd := exec.CommandContext(t.Context(), args[0], args[1:]...)
	cmd.Env = append(os.Environ(), child+"="+do)
	return cmd
}

func must(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func openChild(path string) (*journal.Journal, *journal.Lease, error) {
	j, err := journal.Open(context.Background(), path, options())
	if err != nil {
		return nil, nil, err
	}
	l, err := j.Acquire(context.Background(), "r", journal.CallingProcess(), time.Minute)
	return j, l, err
}

// appendForever appends groups of facts and says each number once it is
// durable.
func appendForever(path string) error {
	j, l, err := openChild(path)
	if err != nil {
		return err
	}
	var n int64
	for _, err := range j.Events(context.Background(), "r", 0) {
		if err != nil {
			return err
		}
		n++
	}
	for {
		var some []nexus.Fact
		for range n%4 + 1 {
			n++
			some = append(some, nexus.TaskParked{Task: nexus.TaskID(fmt.Sprint(n))})
		}
		if _, err := l.Append(context.Background(), some...); err != nil {
			return err
		}
		fmt.Println(n)
	}
}

// hold takes the lease and waits to be killed.
func hold(path string) error {
	_, l, err := openChild(path)
	if err != nil {
		return err
	}
	fmt.Println(l.Fence())
	_, err = bufio.NewReader(os.Stdin).ReadString('\n')
	return err
}

func expect(err error, code nexus.ErrorCode) error {
	hint := map[nexus.ErrorCode]string{nexus.CodeDiskFull: "Free space", nexus.CodeReadOnly: "Make "}[code]
	if errors.Is(err, journal.ErrBroken) {
		hint = "Start nexus again"
	}
	e, ok := errors.AsType[*nexus.Error](err)
	if !ok || e.Code != code || e.Hint == "" || !strings.HasPrefix(e.Hint, hint) {
		return fmt.Errorf("got %w, want %s with a hint that starts with %q", err, code, hint)
	}
	return nil
}

// appendUntil appends until it fails, and returns how many events there are.
func appendUntil(l *journal.Lease, code nexus.ErrorCode) (int64, error) {
	for n := int64(0); n < 1_000_000; {
		got, err := l.Append(context.Background(), facts(64)...)
		if err != nil {
			return n, expect(err, code)
		}
		n = got[63].Seq
	}
	return 0, errors.New("every append succeeded")
}

// sound checks that a journal has its acknowledged events and at most one
// group more, and that it can be written.
func sound(path string, acknowledged int64) error {
	j, l, err := openChild(path)
	if err != nil {
		return err
	}
	defer j.Close()
	r, err := j.Verify(context.Background())
	if err != nil || !r.Sound || r.Events < acknowledged || r.Events > acknowledged+64 {
		return fmt.Errorf("%d events were acknowledged, the journal has %+v (%w)", acknowledged, r, err)
	}
	_, err = l.Append(context.Background(), facts(1)...)
	return err
}

// fillDisk runs where path is on a small disk.
func fillDisk(path string) error {
	j, l, err := openChild(path)
	if err != nil {
		return err
	}
	n, err := appendUntil(l, nexus.CodeDiskFull)
	if err != nil {
		return err
	}
	blobs, err := journal.OpenBlobStore(path + ".blobs")
	if err == nil {
		_, err = blobs.Put(make([]byte, 4<<20))
	}
	if err := expect(err, nexus.CodeDiskFull); err != nil {
		return fmt.Errorf("a blob: %w", err)
	}
	if err := expect(l.Renew(context.Background()), nexus.CodeDiskFull); err != nil {
		return fmt.Errorf("after the disk was full: %w", err)
	}
	l.Release(context.Background())
	if err := j.Close(); err != nil {
		return fmt.Errorf("close: %w", err)
	}
	if err := os.Remove(path + ".ballast"); err != nil {
		return err
	}
	if err := waitForLease(path); err != nil {
		return err
	}
	return sound(path, n)
}

// waitForLease releases what the broken journal could not: this process still
// lives, so its lease would have to run out.
func waitForLease(path string) error {
	o := options()
	o.Now = func() time.Time { return time.Now().Add(time.Hour) }
	j, err := journal.Open(context.Background(), path, o)
	if err != nil {
		return err
	}
	defer j.Close()
	l, err := j.Acquire(context.Background(), "r", journal.CallingProcess(), time.Minute)
	if err != nil {
		return err
	}
	return l.Release(context.Background())
}

// openReadOnlyDisk runs where path is on a disk that cannot be written.
func openReadOnlyDisk(path string) error {
	_, err := journal.Open(context.Background(), path, options())
	if err := expect(err, nexus.CodeReadOnly); err != nil {
		return fmt.Errorf("open to write: %w", err)
	}
	_, err = journal.Open(context.Background(), path+".none", options())
	if err := expect(err, nexus.CodeReadOnly); err != nil {
		return fmt.Errorf("create: %w", err)
	}
	_, err = journal.OpenBlobStore(path + ".blobs")
	if err := expect(err, nexus.CodeReadOnly); err != nil {
		return fmt.Errorf("blobs: %w", err)
	}
	o := options()
	o.ReadOnly = true
	j, err := journal.Open(context.Background(), path, o)
	if err != nil {
		return err
	}
	defer j.Close()
	r, err := j.Verify(context.Background())
	if err != nil || !r.Sound || r.Events != 10 {
		return fmt.Errorf("verify: %+v, %w", r, err)
	}
	return nil
}

// failWrites lets the system refuse to let the log grow, for a while.
func failWrites(path string) error {
	signal.Ignore(unix.SIGXFSZ)
	_, l, err := openChild(path)
	if err != nil {
		return err
	}
	var was syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		return err
	}
	limit := was
	limit.Cur = 256 << 10
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	n, err := appendUntil(l, nexus.CodeStorage)
	if err != nil {
		return err
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &was); err != nil {
		return err
	}
	_, err = l.Append(context.Background(), facts(1)...)
	if err := expect(err, nexus.CodeStorage); err != nil {
		return fmt.Errorf("the disk is well again, but the journal must stay closed: %w", err)
	}
	if err := waitForLease(path); err != nil {
		return err
	}
	return sound(path, n)
}

// failSyncs makes every sync from now on fail. What was acknowledged before
// stays, what was not is not.
func failSyncs(path string) error {
	_, l, err := openChild(path)
	if err != nil {
		return err
	}
	if _, err := l.Append(context.Background(), facts(64)...); err != nil {
		return err
	}
	if err := denySyncs(); err != nil {
		fmt.Println("skip:", err)
		return nil
	}
	for range 3 {
		_, err = l.Append(context.Background(), facts(1)...)
		if err := expect(err, nexus.CodeStorage); err != nil {
			return err
		}
	}
	fmt.Println("refused")
	return nil
}
