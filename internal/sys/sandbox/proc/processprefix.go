package proc

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// ProcessPrefix returns the prefix of names for this process's resources of a kind: the kind, the
// process namespace, the process number, and the start time.
func ProcessPrefix(kind string) (string, error) {
	link, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s%s-%d-%s-", kind, strings.Trim(link, "pid:[]"), os.Getpid(), startTime(os.Getpid())), nil
}

// IsOrphan reports whether the process that created a resource of that name is dead. For processes
// of another namespace that is unknown, and the result false.
func IsOrphan(kind, name string) bool {
	mine, err := ProcessPrefix(kind)
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
	return ok && err == nil && startTime(n) != start
}

// MakeTempDir creates a directory for temporary files of a kind. The caller must remove it.
func MakeTempDir(kind string) (string, error) {
	prefix, err := ProcessPrefix(kind)
	if err != nil {
		prefix = kind // the owner will be unknown, so nobody else removes it
	}
	return os.MkdirTemp("", prefix)
}

// SweepTemp removes the directories of a kind that dead processes created with [MakeTempDir].
func SweepTemp(kind string) {
	all, _ := filepath.Glob(filepath.Join(os.TempDir(), kind+"*"))
	for _, dir := range all {
		if info, err := os.Lstat(dir); err == nil && info.IsDir() && IsOrphan(kind, filepath.Base(dir)) {
			_ = os.RemoveAll(dir) // fails for those of other users
		}
	}
}

// startTime returns the start time of a process in the kernel's units, or "" if there is no such
// process.
func startTime(pid int) string {
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
