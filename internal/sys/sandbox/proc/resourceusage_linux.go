package proc

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// NamespaceUsage returns the usage of a namespace's processes, as seen through its first process;
// processor time only if cpu is set. It returns false if they are not visible: the process has
// ended, or has not set up its own view yet.
func NamespaceUsage(first int, cpu bool) (u ResourceUsage, ok bool) {
	dir := fmt.Sprintf("/proc/%d/root/proc", first)
	if sameDevice(dir, "/proc") {
		return u, false // it still has our own view
	}
	d, err := os.Open(dir)
	if err != nil {
		return u, false
	}
	defer func() { _ = d.Close() }()
	names, _ := d.Readdirnames(-1)
	for _, name := range names {
		if _, err := strconv.Atoi(name); err == nil {
			u.addProcessDir(filepath.Join(dir, name), cpu)
		}
	}
	return u, len(names) > 0
}

// sameDevice reports whether two directories belong to one mounted file system, or if that is
// unknown.
func sameDevice(a, b string) bool {
	var x, y unix.Stat_t
	return unix.Stat(a, &x) != nil || unix.Stat(b, &y) != nil || x.Dev == y.Dev
}

// DescendantUsage returns the usage of a process and its descendants.
func DescendantUsage(top int, cpu bool) (u ResourceUsage) {
	for _, pid := range descendantPIDs(top) {
		u.addProcessDir(fmt.Sprintf("/proc/%d", pid), cpu)
	}
	return u
}

func descendantPIDs(top int) []int {
	all, found := listProcesses(0), []int{top}
	for i := 0; i < len(found); i++ {
		for _, p := range all {
			if p.parent == found[i] && !slices.Contains(found, p.pid) {
				found = append(found, p.pid)
			}
		}
	}
	return found
}

// KillDescendants kills all descendants of this process, and waits for them: this process must be a
// subreaper, so that it inherits orphans. It reports whether none is left.
func KillDescendants() bool {
	self := os.Getpid()
	_, gone := killAll(0, func(p osProcess) bool { return p.parent == self })
	return gone
}

func (u *ResourceUsage) addProcessDir(dir string, cpu bool) {
	if cpu {
		u.CPU += cpuTime(dir)
	}
	data, err := os.ReadFile(filepath.Join(dir, "status"))
	if err != nil {
		return
	}
	u.Memory += 1024 * (statusField(data, "\nRssAnon:") + statusField(data, "\nRssShmem:"))
	u.Threads += int(statusField(data, "\nThreads:"))
}

// statusField returns the number after a name, 0 if missing.
func statusField(status []byte, name string) int64 {
	_, rest, _ := bytes.Cut(status, []byte(name))
	f := bytes.Fields(rest[:min(len(rest), 64)])
	if len(f) == 0 {
		return 0
	}
	n, _ := strconv.ParseInt(string(f[0]), 10, 64)
	return n
}

// pollInterval is the kernel's unit of processor time in /proc, on all architectures.
const pollInterval = 10 * time.Millisecond

// cpuTime returns the processor time of a process and of its children that have ended and were
// waited for: in the sum over all existing processes, nothing counts twice and ended processes are
// included.
func cpuTime(dir string) time.Duration {
	const user, system, childUser, childSystem = 11, 12, 13, 14 // see proc_pid_stat(5), from the state on
	data, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return 0
	}
	f := bytes.Fields(data[bytes.LastIndexByte(data, ')')+1:])
	if len(f) <= childSystem {
		return 0
	}
	var ticks int64
	for _, at := range []int{user, system, childUser, childSystem} {
		n, _ := strconv.ParseInt(string(f[at]), 10, 64)
		ticks += n
	}
	return time.Duration(ticks) * pollInterval
}
