package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// actor is a command that runs beside the story.
type actor struct {
	cmd      *exec.Cmd
	out, err heard
	gone     chan struct{} // closed once it was waited for
	end      error
	keys     *os.File // where a person types; nil where it has no terminal
	screen   *screen  // what its terminal shows; nil where it has none
	from     int      // bytes of err that it had said when something was typed last
	before   string   // what its terminal showed then
}

// heard is what a command says, while it says it.
type heard struct {
	mu   sync.Mutex // guards text
	text bytes.Buffer
}

func (h *heard) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.Write(p)
}

func (h *heard) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.text.String()
}

func says(ts *testscript.TestScript, _ bool, args []string) {
	a := actorOf(ts, args[0])
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if strings.Contains(a.err.String()[a.from:], args[1]) || a.shows(args[1]) {
			return
		}
	}
	shown := ""
	if a.screen != nil {
		shown = a.screen.String()
	}
	ts.Fatalf("%s does not say %q:\n%s\n%s", args[0], args[1], a.err.String(), shown)
}

// shows reports whether a text stands on the terminal that did not stand there, or
// not so often, when something was typed last.
func (a *actor) shows(text string) bool {
	return a.screen != nil && strings.Count(a.screen.String(), text) > strings.Count(a.before, text)
}

// wait waits until a command is gone, for as long as it may take, and kills it if
// it does not go: it says where it stood.
func (a *actor) wait() bool {
	for _, sig := range []syscall.Signal{0, syscall.SIGQUIT, syscall.SIGKILL} {
		_ = a.cmd.Process.Signal(sig)
		select {
		case <-a.gone:
			return sig == 0
		case <-time.After(patience):
		}
	}
	return false
}

func start(ts *testscript.TestScript, _ bool, args []string) {
	a := actorFor(ts, args[1:])
	a.cmd.Stdout, a.cmd.Stderr = &a.out, &a.err
	a.cmd.WaitDelay = 2 * time.Second // what it left behind does not hold the story
	ts.Check(a.cmd.Start())
	playOf(ts).beside[args[0]] = a
	go func() {
		a.end = a.cmd.Wait()
		close(a.gone)
	}()
}

// actorFor returns what is going to run a command where the story stands.
func actorFor(ts *testscript.TestScript, args []string) *actor {
	ts.Check(ts.Exec("env", "-0"))
	env := strings.Split(strings.TrimSuffix(ts.ReadFile("stdout"), "\x00"), "\x00")
	exe := ""
	for _, dir := range filepath.SplitList(ts.Getenv("PATH")) {
		if at := filepath.Join(dir, args[0]); exe == "" {
			if info, err := os.Stat(at); err == nil && info.Mode()&0o111 != 0 {
				exe = at
			}
		}
	}
	a := &actor{cmd: exec.Command(exe, args[1:]...), gone: make(chan struct{})}
	a.cmd.Dir, a.cmd.Env = ts.MkAbs("."), env
	return a
}

func actorOf(ts *testscript.TestScript, name string) *actor {
	a := playOf(ts).beside[name]
	if a == nil {
		ts.Fatalf("nothing of the name %s was started", name)
	}
	return a
}

func ended(ts *testscript.TestScript, _ bool, args []string) {
	a := actorOf(ts, args[0])
	want, err := strconv.Atoi(args[1])
	ts.Check(err)
	if !a.wait() {
		ts.Fatalf("%s does not end:\n%s\n%s", args[0], a.out.String(), a.err.String())
	}
	work := ts.Getenv("WORK")
	ts.Check(os.WriteFile(filepath.Join(work, args[0]+".out"), []byte(a.out.String()), 0o644))
	ts.Check(os.WriteFile(filepath.Join(work, args[0]+".err"), []byte(a.err.String()), 0o644))
	delete(playOf(ts).beside, args[0])
	ts.Logf("[%s out]\n%s[%s err]\n%s", args[0], a.out.String(), args[0], a.err.String())
	if got := exitCode(a.end); got != want {
		ts.Fatalf("%s: exit code %d, want %d", args[0], got, want)
	}
}

func kill(ts *testscript.TestScript, _ bool, args []string) {
	sig := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "KILL": syscall.SIGKILL, "STOP": syscall.SIGSTOP}[args[1]]
	a := actorOf(ts, args[0])
	p := a.cmd.Process
	if sig == syscall.SIGKILL && a.keys != nil {
		a.kill()
	} else if err := p.Signal(sig); !errors.Is(err, os.ErrProcessDone) {
		ts.Check(err)
	}
	for end := time.Now().Add(patience); sig == syscall.SIGSTOP && !stopped(p.Pid); runtime.Gosched() {
		if time.Now().After(end) {
			ts.Fatalf("%s does not stop", args[0])
		}
	}
}

// kill kills it, at a terminal with all that share its process group.
func (a *actor) kill() {
	if a.keys != nil {
		_ = syscall.Kill(-a.cmd.Process.Pid, syscall.SIGKILL) // it may have ended
	}
	_ = a.cmd.Process.Kill()
}

// stopped reports whether all threads of a process stand still: the signal
// that stops them is sent before they are.
func stopped(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid))
	for _, t := range threads {
		stat, err := os.ReadFile(t)
		_, rest, _ := bytes.Cut(stat, []byte(") "))
		if err == nil && !bytes.HasPrefix(rest, []byte("T")) {
			return false
		}
	}
	return true
}

func insist(ts *testscript.TestScript, _ bool, args []string) {
	a := actorOf(ts, args[0])
	for end := time.Now().Add(patience); time.Now().Before(end); {
		kill(ts, false, args)
		select {
		case <-a.gone:
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
	ts.Fatalf("%s does not mind %s", args[0], args[1])
}
