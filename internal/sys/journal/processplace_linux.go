package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// callingProcessPlace returns the place of the calling process.
func callingProcessPlace() processIDNamespace {
	host, err := os.Hostname()
	if err != nil {
		host = "localhost"
	}
	p := processIDNamespace{host: host}
	if id, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		p.boot = strings.TrimSpace(string(id))
	}
	if ns, err := os.Readlink("/proc/self/ns/pid"); err == nil {
		p.space = ns
	}
	return p
}

// processStartTime returns the start time of a process in clock ticks since boot, and whether it still
// runs: a zombie does not.
func processStartTime(pid int) (start uint64, running bool, err error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		return 0, false, nil
	}
	if err != nil {
		return 0, false, err
	}
	return parseStat(stat)
}

// parseStat parses /proc/PID/stat. The second field is the program's name in parentheses and may
// contain anything, so parsing starts after the last closing one.
func parseStat(stat []byte) (start uint64, running bool, err error) {
	const state, started = 0, 19 // counted from the third field
	fields := bytes.Fields(stat[bytes.LastIndexByte(stat, ')')+1:])
	if len(fields) <= started {
		return 0, false, fmt.Errorf("process status of %d fields is too short", len(fields))
	}
	start, err = strconv.ParseUint(string(fields[started]), 10, 64)
	if err != nil {
		return 0, false, fmt.Errorf("process status: %w", err)
	}
	return start, !bytes.Contains([]byte("ZXx"), fields[state]), nil
}
