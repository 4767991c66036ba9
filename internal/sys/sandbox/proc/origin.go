package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// OwnPrefix returns how the names of this process's things of a kind begin: with
// the kind, the namespace that its number is of, its number, and when it was
// started.
func OwnPrefix(kind string) (string, error) {
	link, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s%s-%d-%s-", kind, strings.Trim(link, "pid:[]"), os.Getpid(), started(os.Getpid())), nil
}

// IsOrphan reports whether the one who made the thing of that name is dead.
// Whether those of another namespace are cannot be seen here: false.
func IsOrphan(kind, name string) bool {
	mine, err := OwnPrefix(kind)
	if err != nil {
		return false
	}
	space, _, _ := strings.Cut(strings.TrimPrefix(mine, kind), "-")
	rest, ok := strings.CutPrefix(name, kind+space+"-")
	if !ok {
		return false
	}
	pid, rest, _ := strings.Cut(rest, "-")
	start, _, ok := strings.Cut(rest, "-")
	n, err := strconv.Atoi(pid)
	return ok && err == nil && started(n) != start
}

// OwnTemp makes a directory for temporary files of a kind. Whoever calls it
// removes it.
func OwnTemp(kind string) (string, error) {
	prefix, err := OwnPrefix(kind)
	if err != nil {
		prefix = kind // nobody can tell whose it was, and nobody removes it
	}
	return os.MkdirTemp("", prefix)
}

// SweepTemp removes the directories of a kind that were made with [OwnTemp] by
// processes which are dead.
func SweepTemp(kind string) {
	all, _ := filepath.Glob(filepath.Join(os.TempDir(), kind+"*"))
	for _, dir := range all {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() && IsOrphan(kind, filepath.Base(dir)) {
			_ = os.RemoveAll(dir) // another user's stays
		}
	}
}

// started is when a process was started, as the kernel counts, empty for one
// that is not there.
func started(pid int) string {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	f := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
	if len(f) < 20 || f[0] == "Z" || f[0] == "X" {
		return ""
	}
	return f[19]
}
