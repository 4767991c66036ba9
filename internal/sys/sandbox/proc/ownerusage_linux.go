package proc

import (
	"fmt"
	"os"
	"strings"
)

// AvailableMemory returns the machine's available memory in bytes, 0 if unknown.
func AvailableMemory() int64 {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	return 1024 * statusField(data, "\nMemAvailable:")
}

// UsageByOwner returns the usage of an owner's processes, by the rest of their marks up to the next
// slash, such as the attempt of a run.
func UsageByOwner(owner string) map[string]ResourceUsage {
	all := map[string]ResourceUsage{}
	for _, p := range listProcesses(0) {
		of, mine := "", false
		if p.dead || !p.hasMark(func(m string) bool {
			rest, ok := strings.CutPrefix(m, owner+"/")
			of, _, _ = strings.Cut(rest, "/")
			mine = mine || ok
			return ok
		}) {
			continue
		}
		u := all[of]
		u.addProcessDir(fmt.Sprintf("/proc/%d", p.pid), true)
		u.countProcess(p.pid)
		all[of] = u
	}
	return all
}

// ProcessUsage returns the usage of a process without its descendants.
func ProcessUsage(pid int) (u ResourceUsage, ok bool) {
	if _, ok := readProcess(pid); !ok {
		return u, false
	}
	u.addProcessDir(fmt.Sprintf("/proc/%d", pid), true)
	u.countProcess(pid)
	return u, true
}

// countProcess adds a process and its open files.
func (u *ResourceUsage) countProcess(pid int) {
	u.Processes++
	dir, err := os.Open(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return
	}
	defer func() { _ = dir.Close() }() // only read
	names, _ := dir.Readdirnames(-1)
	u.Files += len(names)
}
