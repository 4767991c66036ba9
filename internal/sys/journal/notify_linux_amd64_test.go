package journal_test

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// calls are what a disk is asked for that fails, with the argument that names the
// file, and whether that is a path, not an open file.
var calls = map[uint32]struct {
	name string
	arg  int
	path bool
}{
	unix.SYS_OPEN: {"open", 0, true}, unix.SYS_OPENAT: {"open", 1, true},
	unix.SYS_MKDIR: {"mkdir", 0, true}, unix.SYS_MKDIRAT: {"mkdir", 1, true},
	unix.SYS_RENAME: {"rename", 0, true}, unix.SYS_RENAMEAT: {"rename", 1, true}, unix.SYS_RENAMEAT2: {"rename", 1, true},
	unix.SYS_LINK: {"link", 0, true}, unix.SYS_LINKAT: {"link", 1, true},
	unix.SYS_UNLINK: {"unlink", 0, true}, unix.SYS_UNLINKAT: {"unlink", 1, true},
	unix.SYS_STAT: {"stat", 0, true}, unix.SYS_LSTAT: {"stat", 0, true}, unix.SYS_NEWFSTATAT: {"stat", 1, true},
	unix.SYS_CHMOD: {"chmod", 0, true}, unix.SYS_FCHMODAT: {"chmod", 1, true},
	unix.SYS_FSYNC: {"sync", 0, false}, unix.SYS_FDATASYNC: {"sync", 0, false},
	unix.SYS_FTRUNCATE: {"truncate", 0, false},
	unix.SYS_READ:      {"read", 0, false}, unix.SYS_PREAD64: {"read", 0, false},
	unix.SYS_WRITE: {"write", 0, false}, unix.SYS_PWRITE64: {"write", 0, false},
	unix.SYS_CLOSE: {"close", 0, false},
}

// chance matches what of a file's name is not the same each time.
var chance = regexp.MustCompile(`\.new-\d+`)

// failingDisk answers what this process asks for below a directory: all of it as
// the kernel does, but for one call.
type failingDisk struct {
	keep []*os.File // stay open: files of the runtime itself have lower numbers, those of tests higher ones

	mu   sync.Mutex
	dir  string
	fail string         // the call that fails, as asked names it; empty for none
	seen map[string]int // how often each was asked for
	all  []string       // what was asked for, each once, in order
}

// notification is struct seccomp_notif, answer struct seccomp_notif_resp.
type (
	notification struct {
		id         uint64
		pid, flags uint32
		nr         int32
		arch       uint32
		at         uint64
		args       [6]uint64
	}
	answer struct {
		id    uint64
		val   int64
		err   int32
		flags uint32
	}
)

// failDisk has the kernel ask before it does any of the calls for this process.
// It cannot be undone.
func failDisk() (*failingDisk, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	own := uint32(max(r.Fd(), w.Fd()))
	const load, jumpEqual, jumpGreater, ret = unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, unix.BPF_JMP | unix.BPF_JGT | unix.BPF_K, unix.BPF_RET | unix.BPF_K
	program := []unix.SockFilter{{Code: load, K: 0}} // the number of the call
	for nr, c := range calls {
		if c.path {
			program = append(program, unix.SockFilter{Code: jumpEqual, Jf: 1, K: nr}, unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_USER_NOTIF})
		} else {
			program = append(program, unix.SockFilter{Code: jumpEqual, Jf: 4, K: nr}, unix.SockFilter{Code: load, K: 16}, // the first argument
				unix.SockFilter{Code: jumpGreater, Jf: 1, K: own}, unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_USER_NOTIF}, unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW})
		}
	}
	program = append(program, unix.SockFilter{Code: ret, K: unix.SECCOMP_RET_ALLOW})
	f := unix.SockFprog{Len: uint16(len(program)), Filter: &program[0]}
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return nil, err
	}
	runtime.GOMAXPROCS(max(4, runtime.NumCPU())) // who waits for an answer must not keep us from giving it
	const flags = unix.SECCOMP_FILTER_FLAG_TSYNC | unix.SECCOMP_FILTER_FLAG_TSYNC_ESRCH | unix.SECCOMP_FILTER_FLAG_NEW_LISTENER
	fd, _, errno := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, flags, uintptr(unsafe.Pointer(&f)))
	if errno != 0 {
		return nil, fmt.Errorf("no filter for all threads: %w", errno)
	}
	d := &failingDisk{keep: []*os.File{r, w}}
	go d.answer(fd)
	return d, nil
}

func (d *failingDisk) answer(fd uintptr) {
	for {
		var n notification
		if _, _, errno := unix.Syscall(unix.SYS_IOCTL, fd, unix.SECCOMP_IOCTL_NOTIF_RECV, uintptr(unsafe.Pointer(&n))); errno != 0 {
			continue // who asked is gone
		}
		a := answer{id: n.id, flags: unix.SECCOMP_USER_NOTIF_FLAG_CONTINUE}
		if d.fails(n) {
			a.err, a.flags = -int32(unix.EIO), 0
			if n.nr == unix.SYS_CLOSE {
				unix.CloseRange(uint(n.args[0]), uint(n.args[0]), 0) // as Linux does it: it is closed all the same
			}
		}
		_, _, _ = unix.Syscall(unix.SYS_IOCTL, fd, unix.SECCOMP_IOCTL_NOTIF_SEND, uintptr(unsafe.Pointer(&a)))
	}
}

// fails notes a call, and reports whether it fails.
func (d *failingDisk) fails(n notification) bool {
	c := calls[uint32(n.nr)]
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.dir == "" {
		return false
	}
	var path string
	if c.path {
		var text [512]byte
		to := []unix.Iovec{{Base: &text[0]}}
		to[0].SetLen(len(text))
		m, _ := unix.ProcessVMReadv(os.Getpid(), to, []unix.RemoteIovec{{Base: uintptr(n.args[c.arg]), Len: len(text)}}, 0)
		path, _, _ = strings.Cut(string(text[:max(m, 0)]), "\x00")
	} else {
		var text [512]byte
		m, _ := unix.Readlink(fmt.Sprintf("/proc/self/fd/%d", n.args[0]), text[:])
		path = string(bytes.TrimSuffix(text[:max(m, 0)], []byte(" (deleted)")))
	}
	rest, in := strings.CutPrefix(path, d.dir)
	if !in {
		return false
	}
	name := c.name + " " + cmp.Or(chance.ReplaceAllString(strings.TrimPrefix(rest, "/"), "new"), "its directory")
	d.seen[name]++
	if k := d.seen[name]; k > 1 {
		name += fmt.Sprintf(", time %d", k)
	}
	d.all = append(d.all, name)
	return name == d.fail
}

// watch has one call below a directory fail from now on; none for an empty one.
func (d *failingDisk) watch(dir, fail string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dir, d.fail, d.seen, d.all = dir, fail, map[string]int{}, nil
}

// rest ends the watch and returns what was asked for.
func (d *failingDisk) rest() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.dir = ""
	return d.all
}
