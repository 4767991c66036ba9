package proc

import (
	"fmt"
	"os"
	"strings"
)

// Available returns the machine's available memory in bytes, 0 if unknown.
func Available() int64 {
	data, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return 0
	}
	return 1024 * field(data, "\nMemAvailable:")
}

// Owned returns the usage of an owner's processes, by the rest of their marks up to the next
// slash, such as the attempt of a run.
func Owned(owner string) map[string]Usage {
	all := map[string]Usage{}
	for _, p := range processes(0) {
		of, mine := "", false
		if p.dead || !p.carries(func(m string) bool {
			rest, ok := strings.CutPrefix(m, owner+"/")
			of, _, _ = strings.Cut(rest, "/")
			mine = mine || ok
			return ok
		}) {
			continue
		}
		u := all[of]
		u.add(fmt.Sprintf("/proc/%d", p.pid), true)
		u.count(p.pid)
		all[of] = u
	}
	return all
}

// One returns the usage of a process without its descendants.
func One(pid int) (u Usage, ok bool) {
	if _, ok := readProcess(pid); !ok {
		return u, false
	}
	u.add(fmt.Sprintf("/proc/%d", pid), true)
	u.count(pid)
	return u, true
}

// count adds a process and its open files.
func (u *Usage) count(pid int) {
	u.Processes++
	dir, err := os.Open(fmt.Sprintf("/proc/%d/fd", pid))
	if err != nil {
		return
	}
	defer func() { _ = dir.Close() }() // only read
	names, _ := dir.Readdirnames(-1)
	u.Files += len(names)
}
