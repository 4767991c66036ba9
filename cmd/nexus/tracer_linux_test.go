//go:build linux && (amd64 || arm64)

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// A tracer runs the program and stops it before each step that the disk or another program can see: a file or a
// directory that is made, renamed or removed, something that is written to the journal or made safe, a program that is
// started. So a test kills it at every step there is, with nothing in the program that helps with it.
type tracer struct {
	pid   int
	at    int            // step before which it is killed; 0: none
	steps int            // that it came to
	last  string         // what the last of them was to do
	known map[int]bool   // its threads
	did   map[string]int // how often each
	exit  unix.WaitStatus
}

// stuck is how long a command may take that is killed at its steps, or that follows.
const stuck = 3 * time.Minute

// trace runs a command of the program until it ends, or is about to make the step with the number.
func (s *stage) trace(at int, args ...string) (tr *tracer, out string) {
	s.t.Helper()
	printed, err := os.Create(filepath.Join(s.t.TempDir(), "printed"))
	if err != nil {
		s.t.Fatal(err)
	}
	defer printed.Close()
	null, err := os.Open(os.DevNull)
	if err != nil {
		s.t.Fatal(err)
	}
	defer null.Close()
	tr = &tracer{at: at, known: map[int]bool{}, did: map[string]int{}}
	runtime.LockOSThread() // who traces is a thread
	defer runtime.UnlockOSThread()
	tr.pid, err = syscall.ForkExec(s.exe, append([]string{s.exe}, args...), &syscall.ProcAttr{
		Dir: s.repo, Env: s.env, Files: []uintptr{null.Fd(), printed.Fd(), printed.Fd()},
		Sys: &syscall.SysProcAttr{Ptrace: true, Setpgid: true},
	})
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOSYS) {
		testenv.NeedMachine(s.t, "a program can be traced", err)
	}
	if err != nil {
		s.t.Fatal(err)
	}
	late := time.AfterFunc(stuck, func() { _ = unix.Kill(tr.pid, unix.SIGKILL) })
	defer late.Stop()
	tr.follow(s.t)
	data, err := os.ReadFile(printed.Name())
	if err != nil {
		s.t.Fatal(err)
	}
	return tr, string(data)
}

// killed reports whether it was killed at the step.
func (tr *tracer) killed() bool { return tr.at > 0 && tr.steps == tr.at }

// follow waits for what its threads do until all of them are gone.
func (tr *tracer) follow(t *testing.T) {
	t.Helper()
	first := true
	for {
		var is unix.WaitStatus
		thread, err := unix.Wait4(-tr.pid, &is, unix.WALL, nil) // its threads are its process group's only children of ours
		switch {
		case err == unix.EINTR:
			continue
		case err == unix.ECHILD:
			return
		case err != nil:
			t.Fatal(err)
		case !is.Stopped():
			if thread == tr.pid {
				tr.exit = is
			}
			continue
		}
		if first {
			first = false
			const how = unix.PTRACE_O_TRACESYSGOOD | unix.PTRACE_O_TRACECLONE | unix.PTRACE_O_EXITKILL
			if err := unix.PtraceSetOptions(tr.pid, how); err != nil {
				_ = unix.Kill(tr.pid, unix.SIGKILL)
				t.Fatal(err)
			}
		}
		if signal, on := tr.heed(thread, is.StopSignal()); on {
			_ = unix.PtraceSyscall(thread, signal) // it may be gone
		}
		tr.known[thread] = true
	}
}

// heed looks at a thread that stopped, and returns the signal with which it goes on, unless it is over.
func (tr *tracer) heed(thread int, why unix.Signal) (signal int, on bool) {
	switch {
	case tr.killed():
		return 0, false
	case why == unix.SIGTRAP|0x80:
		if what := step(thread); what != "" {
			tr.steps, tr.last = tr.steps+1, what
			tr.did[what]++
			if tr.killed() {
				_ = unix.Kill(tr.pid, unix.SIGKILL)
				return 0, false
			}
		}
		return 0, true
	case why == unix.SIGTRAP, why == unix.SIGSTOP && !tr.known[thread]:
		return 0, true // it became the program, or has a new thread, or is one
	}
	return int(why), true
}

// step names the step that a thread is about to make; empty where others see nothing of it.
func step(thread int) string {
	var call struct { // struct ptrace_syscall_info
		op     uint8
		_      [3]uint8
		_      uint32
		_      [2]uint64
		number uint64
		args   [6]uint64
		_      [2]uint64
	}
	const getInfo, entry = 0x420e, 1
	_, _, errno := unix.Syscall6(unix.SYS_PTRACE, getInfo, uintptr(thread), unsafe.Sizeof(call), uintptr(unsafe.Pointer(&call)), 0, 0)
	if errno != 0 || call.op != entry {
		return ""
	}
	switch name := steps()[call.number]; call.number {
	case unix.SYS_OPENAT:
		if call.args[2]&(unix.O_CREAT|unix.O_TRUNC) != 0 {
			return name
		}
		return ""
	case unix.SYS_CLONE:
		if call.args[0]&unix.CLONE_THREAD == 0 {
			return name
		}
		return ""
	default:
		return name
	}
}

// steps names the calls of the kernel that are steps, some of them only with some arguments.
func steps() map[uint64]string {
	return map[uint64]string{
		unix.SYS_OPENAT: "make a file", unix.SYS_MKDIRAT: "make a directory", unix.SYS_RENAMEAT: "rename", unix.SYS_RENAMEAT2: "rename",
		unix.SYS_LINKAT: "link", unix.SYS_SYMLINKAT: "link", unix.SYS_UNLINKAT: "remove", unix.SYS_FTRUNCATE: "cut a file",
		unix.SYS_PWRITE64: "write to the journal", unix.SYS_FSYNC: "make safe", unix.SYS_FDATASYNC: "make safe", unix.SYS_CLONE: "start a program",
		unix.SYS_MOUNT: "mount", unix.SYS_UMOUNT2: "unmount", unix.SYS_FCHMODAT: "change the mode",
	}
}

// told says how it ended.
func (tr *tracer) told() string {
	return fmt.Sprintf("step %d, about to %s (exit %d)", tr.steps, tr.last, tr.exit.ExitStatus())
}
