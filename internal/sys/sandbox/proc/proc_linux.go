package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// NewSessionAttributes returns the attributes of a process with its own session, which dies with the thread
// that started it.
func NewSessionAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// ShellExitCode returns a shell's exit code: 128+n after signal n.
func ShellExitCode(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}

// KillGroup kills a process and its group.
func KillGroup(p *os.Process) {
	_ = unix.Kill(-p.Pid, unix.SIGKILL)
	_ = p.Kill()
}

// BoxInitProcess is the first process of a box: when it has ended, the kernel has killed every other process
// of the box.
type BoxInitProcess int // a pidfd, -1 for none

// OpenInitProcess returns the box's first process, unless its number belongs to a process outside of that
// namespace, or to one in this process's own: that is in no box, and may be the machine's first.
func OpenInitProcess(pid int, namespace uint64) BoxInitProcess {
	if pid <= 0 {
		return -1
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return -1
	}
	link, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/pid", pid))
	own, ownErr := os.Readlink("/proc/self/ns/pid")
	if err != nil || ownErr != nil || link == own || namespace != 0 && link != fmt.Sprintf("pid:[%d]", namespace) {
		_ = unix.Close(fd)
		return -1
	}
	return BoxInitProcess(fd)
}

// Kill kills the process, which may already have ended.
func (i BoxInitProcess) Kill() {
	if i >= 0 {
		_ = unix.PidfdSendSignal(int(i), unix.SIGKILL, nil, 0)
	}
}

// Wait reports whether the process has ended within the limit, and closes the pidfd.
func (i BoxInitProcess) Wait(limit time.Duration) bool {
	if i < 0 {
		return true
	}
	defer func() { _ = unix.Close(int(i)) }()
	fds := []unix.PollFd{{Fd: int32(i), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(fds, int(limit.Milliseconds()))
		if err != unix.EINTR {
			return err == nil && n > 0
		}
	}
}

// KillCommandProcesses kills the remaining processes of a command that ran as process leader in its own
// session, and reports whether all are gone.
func KillCommandProcesses(leader int, mark string, ran time.Duration) bool {
	after := 0
	if ran < 100*time.Millisecond { // the process numbers cannot have wrapped around
		switch last := lastPID(); {
		case last == leader:
			return true // no process was started since
		case last > leader:
			after = leader
		}
	}
	mine := func(p osProcess) bool {
		return p.session == leader || p.group == leader || p.hasMark(func(m string) bool { return m == mark })
	}
	_, gone := killAll(after, mine)
	return gone
}

// KillProcessesOf kills every process of this user with a mark of owner, which a killed process of this
// program may have left, and returns their number.
func KillProcessesOf(owner string) (int, error) {
	killed, gone := killAll(0, matchOwner(owner))
	if !gone {
		return killed, fmt.Errorf("sweep %s: some processes cannot be killed", owner)
	}
	return killed, nil
}

// KillProcessesOfAll is [KillProcessesOf] for many owners at once.
func KillProcessesOfAll(owners map[string]bool) (int, error) {
	if len(owners) == 0 {
		return 0, nil
	}
	killed, gone := killAll(0, func(p osProcess) bool {
		return p.hasMark(func(m string) bool {
			owner, _, _ := strings.Cut(m, "/")
			return owners[owner]
		})
	})
	if !gone {
		return killed, errors.New("sweep: some processes cannot be killed")
	}
	return killed, nil
}

// CountProcessesOf returns the number of processes that [KillProcessesOf] would kill.
func CountProcessesOf(owner string) int { return len(withDescendants(0, matchOwner(owner))) }

// matchOwner returns a function that matches the processes of an owner.
func matchOwner(owner string) func(osProcess) bool {
	return func(p osProcess) bool {
		return p.hasMark(func(m string) bool { return m == owner || strings.HasPrefix(m, owner+"/") })
	}
}

// killAll kills the matching processes with numbers above after, and their descendants, until
// there are none; zombies do not count.
func killAll(after int, match func(osProcess) bool) (killed int, gone bool) {
	seen := map[int]bool{}
	for deadline := time.Now().Add(Grace); time.Now().Before(deadline); { //nolint:forbidigo // waits for the kernel
		found := withDescendants(after, match)
		if len(found) == 0 {
			return len(seen), true
		}
		for _, pid := range found {
			seen[pid] = true
			killProcess(pid)
		}
	}
	return len(seen), false
}

// killProcess kills a process and waits briefly for its end.
func killProcess(pid int) {
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return
	}
	i := BoxInitProcess(fd)
	i.Kill()
	i.Wait(100 * time.Millisecond)
}

type osProcess struct {
	pid, parent, group, session int
	dead                        bool
}

// withDescendants returns the matching processes and all their descendants.
func withDescendants(after int, match func(osProcess) bool) []int {
	self := os.Getpid()
	var found []int
	all := listProcesses(after)
	for _, p := range all {
		if !p.dead && p.pid != self && match(p) {
			found = append(found, p.pid)
		}
	}
	for i := 0; i < len(found); i++ {
		for _, p := range all {
			if p.parent == found[i] && !p.dead && p.pid != self && !slices.Contains(found, p.pid) {
				found = append(found, p.pid)
			}
		}
	}
	return found
}

func listProcesses(after int) []osProcess {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer func() { _ = dir.Close() }()
	names, _ := dir.Readdirnames(-1)
	all := make([]osProcess, 0, len(names))
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil && pid > after {
			if p, ok := readProcess(pid); ok {
				all = append(all, p)
			}
		}
	}
	return all
}

// readProcess parses "pid (name) state parent group session ..."; the name may contain anything,
// so parsing starts after its last bracket.
func readProcess(pid int) (osProcess, bool) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return osProcess{}, false
	}
	f := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if len(f) < 4 {
		return osProcess{}, false
	}
	p := osProcess{pid: pid, dead: f[0] == "Z" || f[0] == "X"}
	p.parent, _ = strconv.Atoi(f[1])
	p.group, _ = strconv.Atoi(f[2])
	p.session, _ = strconv.Atoi(f[3])
	return p, true
}

// hasMark reports whether the process has a wanted mark.
func (p osProcess) hasMark(wanted func(string) bool) bool {
	for entry := range bytes.SplitSeq(p.readEnviron(), []byte{0}) {
		if m, ok := bytes.CutPrefix(entry, []byte(Mark+"=")); ok && wanted(string(m)) {
			return true
		}
	}
	return false
}

// readEnviron reads the environment of a process. While the process executes another program, the
// environment is empty for a moment, so environ waits: otherwise the process would seem to belong
// to nobody.
func (p osProcess) readEnviron() []byte {
	for range 100 {
		data, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.pid))
		if err != nil || len(data) > 0 || hasNoEnviron(p.pid) {
			return data
		}
		time.Sleep(time.Millisecond) //nolint:forbidigo // waits for the kernel
	}
	return nil
}

// hasNoEnviron reports whether a process permanently has no environment: it is dead, a kernel
// thread, or was started with an empty one.
func hasNoEnviron(pid int) bool {
	// See proc_pid_stat(5), from the state on. The kernel sets where the code starts after the environment is
	// complete; until then, an environment that is being filled looks empty.
	const flags, codeStart, envStart, envEnd, kernelThread = 6, 23, 47, 48, 0x200000
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	f := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	if len(f) <= envEnd || f[0] == "Z" || f[0] == "X" {
		return true
	}
	bits, err := strconv.ParseUint(f[flags], 10, 64)
	return err != nil || bits&kernelThread != 0 || f[codeStart] != "0" && f[envEnd] != "0" && f[envStart] == f[envEnd]
}

// lastPID returns the number of the process or thread that was started last, 0 if unknown.
func lastPID() int {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return 0
	}
	f := strings.Fields(string(data))
	pid, _ := strconv.Atoi(f[len(f)-1])
	return pid
}
