package backgroundprocess

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

func TestMain(m *testing.M) {
	if p := FindParent(); p != nil {
		play(p, os.Args[1])
		return
	}
	goleak.VerifyTestMain(m)
}

// play is what the process does that a test starts.
func play(p *ParentProcess, what string) {
	switch what {
	case "fail":
		fmt.Fprintln(os.Stderr, "it cannot be done")
		os.Exit(3)
	case "killed":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	case "leave":
		leave(p, os.Args[2])
	case "signalled":
		signalled(p, os.Args[2])
	case "wait":
		c := make(chan os.Signal, 1)
		signal.Notify(c, syscall.SIGTERM)
		_, _ = os.Stdout.WriteString("waiting\n")
		<-c
		os.Exit(7)
	default:
		in, _ := io.ReadAll(os.Stdin)
		own, _ := unix.Getsid(0)
		_, again := os.LookupEnv(startedVariable)
		fmt.Printf("%s %s %q %t %t", what, p.Word, in, own == os.Getpid(), again)
		p.ReportReady("under way")
		p.ReportReady("and again")
	}
}

// leave goes on without what it shared, and says how.
func leave(p *ParentProcess, path string) {
	log, err := os.Create(path)
	if err == nil {
		err = p.LeaveTerminal("r1", log)
	}
	if err != nil {
		panic(err)
	}
	in, _ := io.ReadAll(os.Stdin)
	<-p.TerminalClosedChannel() // its parent has ended
	fmt.Printf("read %q, ", in)
	fmt.Fprintln(os.Stderr, "2 of 2")
}

// signalled ends with the number of the signal that it got.
func signalled(p *ParentProcess, ready string) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, syscall.SIGINT, syscall.SIGTERM)
	if err := os.WriteFile(ready, []byte("waiting"), 0o600); err != nil {
		panic(err)
	}
	select {
	case s := <-c:
		os.Exit(int(s.(syscall.Signal)))
	case <-p.TerminalClosedChannel():
		os.Exit(int(syscall.SIGHUP))
	}
}

func begin(t *testing.T, what string, in *os.File) (p *StartedProcess, said func() string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "out")
	out, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	p, err = StartProcess(Options{Exe: exe, Args: []string{what}, Env: os.Environ(), Word: "person", In: in, Out: out, Err: out})
	if err != nil {
		t.Fatal(err)
	}
	return p, func() string {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
}

func TestSaysWhenItIsUnderWay(t *testing.T) {
	p, out := begin(t, "go", nil)
	said, code, err := p.WaitUntilReady(t.Context())
	if said != "under way" || code != 0 || err != nil {
		t.Errorf("said %q, code %d, %v", said, code, err)
	}
	if want := `go person "" true false`; out() != want {
		t.Errorf("%q, want %q", out(), want)
	}
}

func TestReadsWhatItIsGiven(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	_, err = write.WriteString("a goal")
	if err := errors.Join(err, write.Close()); err != nil {
		t.Fatal(err)
	}
	p, out := begin(t, "go", read)
	_, _, err = p.WaitUntilReady(t.Context())
	if err := errors.Join(err, read.Close()); err != nil || !strings.Contains(out(), `"a goal"`) {
		t.Errorf("%q, %v", out(), err)
	}
}

func TestEndsBefore(t *testing.T) {
	p, out := begin(t, "fail", nil)
	if said, code, err := p.WaitUntilReady(t.Context()); said != "" || code != 3 || err != nil || out() != "it cannot be done\n" {
		t.Errorf("said %q, code %d, %v; %q", said, code, err, out())
	}
}

func TestIsAskedToEnd(t *testing.T) {
	p, out := begin(t, "wait", nil)
	for out() != "waiting\n" { // it hears the signal from then on
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if said, code, err := p.WaitUntilReady(ctx); said != "" || code != 7 || err != nil {
		t.Errorf("said %q, code %d, %v", said, code, err)
	}
}

func TestProgramIsMissing(t *testing.T) {
	p, err := StartProcess(Options{Exe: filepath.Join(t.TempDir(), "none")})
	if p != nil || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("%v, %v", p, err)
	}
}
