package jail

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/proc"
)

// runGuard starts a jail without namespaces, from outside of its restrictions, and inherits all
// orphaned processes: when the command has ended, or this process is told to end, they are all
// killed.
func runGuard(s JailSpec) ExitReport {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return ExitReport{Error: fmt.Sprintf("own what is started: %v", err)}
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return ExitReport{Error: fmt.Sprintf("forbid traces: %v", err)}
	}
	told := make(chan os.Signal, 1)
	signal.Notify(told, syscall.SIGTERM)
	r, w, err := os.Pipe()
	if err != nil {
		return ExitReport{Error: err.Error()}
	}
	defer func() { _ = r.Close() }()
	pid, err := startLandlockCell(s, w)
	_ = w.Close()
	if err != nil {
		return ExitReport{Error: fmt.Sprintf("start the inner process: %v", err)}
	}
	ended := make(chan ExitReport, 1)
	go func() { ended <- readReport(r) }() // ends with the cell, which is killed below
	var word ExitReport
	select {
	case word = <-ended:
	case <-told:
		word = ExitReport{Error: "told to end"}
	}
	_ = unix.Kill(pid, unix.SIGKILL)
	gone := killRemainingProcesses()
	if s.Own != "" {
		_ = os.RemoveAll(s.Own) // the report is more important
	}
	if !gone {
		word = ExitReport{Error: "some processes cannot be killed"}
	}
	return word
}

// startLandlockCell starts the process that will be restricted.
func startLandlockCell(s JailSpec, word *os.File) (int, error) {
	s.Kind, s.Join = KindLandlock, 0 // it starts in the guard's groups
	spec, err := s.OpenFile()
	if err != nil {
		return 0, err
	}
	defer func() { _ = spec.Close() }()
	return syscall.ForkExec("/proc/self/exe", []string{"nexus", JailArg}, &syscall.ProcAttr{
		Env: os.Environ(), Files: []uintptr{0, 1, 2, spec.Fd(), word.Fd()},
		Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	})
}

func readReport(r io.Reader) ExitReport {
	w := ExitReport{Error: "the inner process was killed"}
	var said ExitReport
	if json.NewDecoder(r).Decode(&said) == nil {
		w = said
	}
	return w
}

// killRemainingProcesses kills processes and waits until none is left. A dead process can only be waited for
// after its last thread has ended, which takes long on a busy machine.
func killRemainingProcesses() bool {
	const patience = 20 * time.Second
	for until := time.Now().Add(patience); time.Now().Before(until); time.Sleep(time.Millisecond) { //nolint:forbidigo // waits for the kernel
		gone := proc.KillDescendants()
		for {
			pid, err := unix.Wait4(-1, nil, unix.WNOHANG, nil)
			if err == unix.ECHILD {
				return true
			}
			if err != nil || pid == 0 {
				break
			}
		}
		_ = gone // the next round finds processes that were forked meanwhile
	}
	return false
}

// BlockJailStart blocks a jail with this Spec until letGo is called, so that it can be put into a
// control group before it starts any process.
func BlockJailStart(spec *os.File) (letGo func(), err error) {
	if err := setFileLock(spec.Fd(), unix.F_SETLK, unix.F_WRLCK); err != nil {
		return nil, fmt.Errorf("hold a jail: %w", err)
	}
	return func() { _ = setFileLock(spec.Fd(), unix.F_SETLK, unix.F_UNLCK) }, nil
}

func setFileLock(fd uintptr, how int, kind int16) error {
	for {
		err := unix.FcntlFlock(fd, how, &unix.Flock_t{Type: kind})
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// OpenFile returns an open file with the Spec, at its beginning.
func (s JailSpec) OpenFile() (*os.File, error) {
	data, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	return OpenMemoryFile(data)
}

// OpenMemoryFile returns an open file with data, at its beginning.
func OpenMemoryFile(data []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("nexus", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("make a file in memory: %w", err)
	}
	f := os.NewFile(uintptr(fd), "memory")
	if _, err = f.WriteAt(data, 0); err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("fill a file in memory: %w", err)
	}
	return f, nil
}
