package cgroup

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/proc"
)

// groupPrefix is the prefix of the name of every group; [proc.ProcessPrefix] describes the rest.
const groupPrefix = "nexusbox-" // earlier versions swept "nexus-"

// FindParent returns the parent of new groups, or an error with the reason why groups cannot be created.
// It removes the leftover groups of dead processes.
func FindParent() (*ControlGroupParent, error) {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNone, err)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNone, err)
	}
	places := findGroupDirs(string(groups), string(mounts), func(dir string) bool { return unix.Access(dir, unix.W_OK) == nil }, func(file string) string {
		data, _ := os.ReadFile(file)
		return string(data)
	})
	if len(places) == 0 {
		return nil, fmt.Errorf("%w: none is writable with memory or pids", errNone)
	}
	p := &ControlGroupParent{places: places}
	if p.prefix, err = proc.ProcessPrefix(groupPrefix); err != nil {
		return nil, fmt.Errorf("%w: %w", errNone, err)
	}
	p.removeDeadGroups()
	g, err := p.NewGroup("try", ControlGroupLimits{Memory: 1 << 30, Processes: 100})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errNone, err)
	}
	return p, g.Remove()
}

// removeDeadGroups kills the processes in the groups of dead processes, removes the groups, and returns their
// number. For owners in another namespace it is unknown whether they are dead: their groups are
// not changed.
func (p *ControlGroupParent) removeDeadGroups() int {
	n := 0
	for _, at := range p.places {
		left, _ := filepath.Glob(filepath.Join(at.dir, groupPrefix+"*"))
		for _, dir := range left {
			if !proc.IsOrphan(groupPrefix, filepath.Base(dir)) {
				continue
			}
			g := ControlGroup{dirs: []cgroupDir{{dir, at.kinds, at.version}}}
			if g.killAll() && g.Remove() == nil {
				n++
			}
		}
	}
	return n
}

// killPatience limits the time for operations that the kernel completes asynchronously.
const killPatience = 2 * time.Second

// killAll kills all processes in the group, and reports whether it is empty. It does not touch a
// group with the machine's first process, this one, or one of another namespace: those belong to
// no command, and freezing could freeze the killer.
func (g *ControlGroup) killAll() bool {
	until := time.Now().Add(killPatience) //nolint:forbidigo // waits for the kernel
	for {
		if slices.ContainsFunc(g.dirs, func(at cgroupDir) bool { return slices.ContainsFunc(at.memberPIDs(), isProtected) }) {
			return false
		}
		left := 0
		for _, at := range g.dirs {
			left += at.killMembers()
		}
		if left == 0 {
			return true
		}
		if time.Now().After(until) { //nolint:forbidigo // as above
			return false
		}
		time.Sleep(time.Millisecond) //nolint:forbidigo // as above
	}
}

// killMembers kills all current processes and returns their number. Those in a freezer cannot fork
// meanwhile.
func (at cgroupDir) killMembers() int {
	members := at.memberPIDs()
	if len(members) == 0 {
		return 0
	}
	if at.version == 2 && writeFile(filepath.Join(at.dir, "cgroup.kill"), "1") == nil {
		return len(members)
	}
	frozen := slices.Contains(at.kinds, "freezer")
	if frozen {
		_ = writeFile(filepath.Join(at.dir, "freezer.state"), "FROZEN")
		members = at.memberPIDs()
	}
	for _, pid := range members {
		at.killMember(pid)
	}
	if frozen {
		_ = writeFile(filepath.Join(at.dir, "freezer.state"), "THAWED")
	}
	return len(members)
}

// killMember kills a process if it is still the same one: its number may have been reused since it
// was read.
func (at cgroupDir) killMember(pid int) {
	if isProtected(pid) {
		return
	}
	fd, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		return // it has ended
	}
	if slices.Contains(at.memberPIDs(), pid) {
		_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
	}
	_ = unix.Close(fd)
}

// Remove removes the group, which must be empty. Dead processes may remain in it for a moment.
func (g *ControlGroup) Remove() error {
	var errs error
	for _, at := range g.dirs {
		until := time.Now().Add(killPatience) //nolint:forbidigo // waits for the kernel
		for {
			err := unix.Rmdir(at.dir)
			if err == nil || errors.Is(err, fs.ErrNotExist) {
				break
			}
			if !errors.Is(err, unix.EBUSY) || time.Now().After(until) { //nolint:forbidigo // as above
				errs = errors.Join(errs, fmt.Errorf("remove a control group: %w", err))
				break
			}
			time.Sleep(time.Millisecond) //nolint:forbidigo // as above
		}
	}
	return errs
}
