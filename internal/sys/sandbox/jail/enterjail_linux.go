package jail

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The complete start of this program takes some ten times as long as a jail's whole life, and a
// test binary that is started as a jail must never run its tests instead. So this is the only init
// function that acts immediately.
//
//nolint:gochecknoinits // see above; docs/decisions has the figures
func init() {
	if len(os.Args) == 2 && os.Args[1] == JailArg {
		enterJail()
		unix.Exit(0) // no other code may run, nor delay the exit as the race detector does
	}
}

// enterJail runs the whole life of a jail. It runs on the process's first thread: the restrictions
// belong to that thread, and the processes that it starts inherit them.
func enterJail() {
	word := os.NewFile(reportFD, "word")
	w := runJail()
	if data, err := json.Marshal(w); err == nil {
		_, _ = word.Write(append(data, '\n')) // there is no other way to report
	}
}

func runJail() ExitReport {
	if err := unix.CloseRange(SpecFD, ^uint(0), unix.CLOSE_RANGE_CLOEXEC); err != nil {
		return ExitReport{Error: "close inherited files: " + err.Error()}
	}
	given := os.NewFile(SpecFD, "spec")
	if err := setFileLock(SpecFD, unix.F_SETLKW, unix.F_RDLCK); err != nil {
		return ExitReport{Error: "wait to begin: " + err.Error()}
	}
	s, err := readSpec(given)
	if err != nil {
		return ExitReport{Error: "read what to do: " + err.Error()}
	}
	_ = given.Close()
	enterGroups(s.Join)
	switch s.Kind {
	case KindNamespaces:
		err = setUpNamespaces(s)
	case KindGuard:
		return runGuard(s)
	case KindEgress:
		return execBehindProxy(s)
	case KindLandlock:
		err = nil
	default:
		err = fmt.Errorf("no walls %q", s.Kind)
	}
	if err != nil {
		return ExitReport{Error: err.Error()}
	}
	return runConfined(s)
}

// enterGroups enters control groups before any process is started: the calling thread enters, with
// all processes that it will start. If one cannot be entered, its limits are still watched from
// outside.
func enterGroups(groups int) {
	for fd := cgroupFD; fd < cgroupFD+groups; fd++ {
		_, _ = unix.Write(fd, []byte("0"))
		_ = unix.Close(fd)
	}
}

// setUpNamespaces sets up the namespaces of which this process is the first.
func setUpNamespaces(s JailSpec) error {
	if os.Getpid() != 1 {
		return errors.New("not the first process of a namespace")
	}
	if err := unix.Sethostname([]byte("nexus")); err != nil {
		return fmt.Errorf("set the host name: %w", err)
	}
	if err := raiseLoopback(); err != nil {
		return err
	}
	if s.Door {
		if err := openProxyPorts(s.Local); err != nil {
			return err
		}
	}
	return buildMountView(s)
}

// runConfined runs the command with all restrictions, and waits for its end. In namespaces the end
// of this process, soon after, ends all other processes.
func runConfined(s JailSpec) ExitReport {
	if err := ignoreSignals(s.Kind); err != nil {
		return ExitReport{Error: err.Error()}
	}
	if err := os.Chdir(s.Dir); err != nil {
		return ExitReport{Error: err.Error()}
	}
	path, err := findProgram(s)
	if err != nil {
		return ExitReport{Missing: true}
	}
	if err := dropPrivileges(s); err != nil {
		return ExitReport{Error: err.Error()}
	}
	pid, err := syscall.ForkExec(path, s.Args, &syscall.ProcAttr{
		Dir: s.Dir, Env: s.Env, Files: []uintptr{0, 1, 2}, Sys: &syscall.SysProcAttr{Setpgid: true},
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return ExitReport{Missing: true}
	case err != nil:
		return ExitReport{Error: fmt.Sprintf("start %s: %v", s.Args[0], err)}
	}
	return reapUntilExit(pid)
}

// ignoreSignals protects this process from signals that are sent inside the jail. For the first
// process of a namespace, the kernel drops all signals without a handler, so the handlers are
// removed: disabling each signal through the runtime takes two thread switches, which would be
// most of a jail's work.
func ignoreSignals(k ConfinementKind) error {
	if k != KindNamespaces {
		signal.Notify(make(chan os.Signal, 1)) // never received from
		return nil
	}
	const last = 64
	var none [4]uint64 // struct sigaction of the default
	for n := syscall.Signal(1); n <= last; n++ {
		if n == unix.SIGKILL || n == unix.SIGSTOP {
			continue
		}
		if _, _, e := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(n), uintptr(unsafe.Pointer(&none)), 0, 8, 0, 0); e != 0 {
			return fmt.Errorf("drop the handler of signal %d: %w", n, e)
		}
	}
	return nil
}

// reapUntilExit waits for every process that this one inherits until the command has ended.
func reapUntilExit(command int) ExitReport {
	for {
		var status unix.WaitStatus
		pid, err := unix.Wait4(-1, &status, 0, nil)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return ExitReport{Error: "wait for the command: " + err.Error()}
		}
		if pid == command && (status.Exited() || status.Signaled()) {
			exit := status.ExitStatus()
			if status.Signaled() {
				exit = 128 + int(status.Signal())
			}
			return ExitReport{Exit: &exit}
		}
	}
}

// findProgram looks up the command's program in its own PATH, inside of the jail.
func findProgram(s JailSpec) (string, error) {
	name := s.Args[0]
	if strings.Contains(name, "/") {
		if !filepath.IsAbs(name) {
			name = filepath.Join(s.Dir, name)
		}
		return name, checkExecutable(name)
	}
	for i := len(s.Env) - 1; i >= 0; i-- {
		path, ok := strings.CutPrefix(s.Env[i], "PATH=")
		if !ok {
			continue
		}
		for _, dir := range filepath.SplitList(path) {
			if full := filepath.Join(dir, name); filepath.IsAbs(dir) && checkExecutable(full) == nil {
				return full, nil
			}
		}
		break
	}
	return "", fs.ErrNotExist
}

func checkExecutable(path string) error {
	info, err := os.Stat(path)
	if err == nil && (!info.Mode().IsRegular() || info.Mode()&0o111 == 0) {
		err = fs.ErrNotExist
	}
	return err
}
