// Package cgroup puts the processes of a sandbox into a control group of their own, if this user
// may create one: in a delegated tree of version 2, or below this process's own groups of version
// 1. The kernel enforces a group's limits immediately, for all forked processes, and all processes
// in a group can be killed.
package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Limits are the limits of a group. Zero means no limit.
type Limits struct {
	Memory    int64 // bytes, including cached files
	Processes int   // processes and threads
}

// place is a directory of a hierarchy in which groups are created.
type place struct {
	dir     string
	kinds   []string // controllers
	version int
}

// Parent creates groups.
type Parent struct {
	places []place
	prefix string // prefix of the names of this process's groups
}

// errNone is returned if no group can be created.
var errNone = errors.New("no control group can be made here")

// controllers are the useful controllers of version 1; freezer is needed for killing safely. The
// cpu controller is not among them: moving a process into it takes 12 ms on a busy machine, and
// into all others 0.6.
func controllers() []string { return []string{"memory", "pids", "freezer"} }

// findDirs parses the groups of this process, from /proc/self/cgroup, and the mounts, from
// /proc/self/mountinfo.
func findDirs(groups, mounts string, may func(dir string) bool, read func(file string) string) []place {
	var found []place
	have := map[string]bool{}
	for _, h := range hierarchies(groups, mounts) {
		if h.version == 1 {
			if slices.ContainsFunc(h.kinds, func(k string) bool { return slices.Contains(controllers(), k) }) && may(h.dir) {
				found = append(found, h.place)
				for _, k := range h.kinds {
					have[k] = true
				}
			}
			continue
		}
		// Version 2: the nearest directory that delegates its controllers.
		for dir, top := h.dir, filepath.Clean(h.top); ; dir = filepath.Dir(dir) {
			on := strings.Fields(read(filepath.Join(dir, "cgroup.subtree_control")))
			if slices.Contains(on, "memory") && slices.Contains(on, "pids") && may(dir) {
				found = append(found, place{dir, on, 2})
				have["memory"], have["pids"] = true, true
				break
			}
			if dir == top || len(dir) <= len(top) {
				break
			}
		}
	}
	if !have["memory"] && !have["pids"] {
		return nil
	}
	return found
}

type hierarchy struct {
	place
	top string // mount point
}

// hierarchies returns the directories of a process's groups.
func hierarchies(groups, mounts string) []hierarchy {
	var all []hierarchy
	for line := range strings.Lines(groups) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 || !strings.HasPrefix(f[2], "/") || strings.Contains("/"+f[2]+"/", "/../") {
			continue
		}
		kinds, version := strings.Split(f[1], ","), 1
		if f[0] == "0" && f[1] == "" {
			kinds, version = nil, 2
		}
		if top, root, ok := mounted(mounts, kinds, version); ok {
			inside, below := strings.CutPrefix(f[2], strings.TrimSuffix(root, "/"))
			if !below {
				inside = "" // it is the view of another namespace
			}
			all = append(all, hierarchy{place{filepath.Join(top, inside), kinds, version}, top})
		}
	}
	return all
}

// mounted returns the mount point of a hierarchy, and its mounted part.
func mounted(mounts string, kinds []string, version int) (top, root string, ok bool) {
	for line := range strings.Lines(mounts) {
		before, after, sep := strings.Cut(line, " - ")
		f, g := strings.Fields(before), strings.Fields(after)
		if !sep || len(f) < 6 || len(g) < 3 || !filepath.IsAbs(f[4]) {
			continue
		}
		switch {
		case version == 2 && g[0] == "cgroup2":
			return f[4], f[3], true
		case version == 1 && g[0] == "cgroup" && !slices.ContainsFunc(kinds, func(k string) bool { return !slices.Contains(strings.Split(g[2], ","), k) }):
			return f[4], f[3], true
		}
	}
	return "", "", false
}

// Kinds returns the resources that the kernel limits in a group.
func (p *Parent) Kinds() []string {
	if p == nil {
		return nil
	}
	var all []string
	for _, k := range []string{"memory", "pids", "cpu"} {
		if slices.ContainsFunc(p.places, func(at place) bool { return slices.Contains(at.kinds, k) }) {
			all = append(all, k)
		}
	}
	return all
}

// Group is one group, in all hierarchies.
type Group struct {
	dirs  []place // their own directories
	doors bool    // version 1 directories are entered through [Group.Doors]
}

// New creates a group.
func (p *Parent) New(name string, l Limits) (*Group, error) {
	g := &Group{}
	for _, at := range p.places {
		dir := place{filepath.Join(at.dir, p.prefix+name), at.kinds, at.version}
		if err := os.Mkdir(dir.dir, 0o755); err != nil {
			return nil, errors.Join(fmt.Errorf("make a control group: %w", err), g.Remove())
		}
		g.dirs = append(g.dirs, dir)
		if err := dir.bound(l); err != nil {
			return nil, errors.Join(fmt.Errorf("bound a control group: %w", err), g.Remove())
		}
	}
	return g, nil
}

// bound sets the limits. A group of version 2 gets half of the usual CPU share, when others
// compete for it.
func (at place) bound(l Limits) error {
	var errs error
	set := func(kind, file, value string) {
		if slices.Contains(at.kinds, kind) {
			errs = errors.Join(errs, write(filepath.Join(at.dir, file), value))
		}
	}
	memory := "memory.limit_in_bytes"
	if at.version == 2 {
		memory = "memory.max"
		set("cpu", "cpu.weight", "50")
	}
	if l.Memory > 0 {
		set("memory", memory, strconv.FormatInt(l.Memory, 10))
	}
	if l.Processes > 0 {
		set("pids", "pids.max", strconv.Itoa(l.Processes))
	}
	return errs
}

// Doors opens files through which a thread enters the group by writing 0 to each, with all
// processes that it starts from then on. Moving another process instead blocks all forks and exits
// on the machine, and the kernel waits 10 ms for them. Groups of version 2 have no such files. If
// one cannot be opened, Doors returns none, and [Group.Add] must be used. The caller closes the
// files.
func (g *Group) Doors() []*os.File {
	if g == nil {
		return nil
	}
	var all []*os.File
	for _, at := range g.dirs {
		if at.version == 2 {
			continue
		}
		f, err := os.OpenFile(filepath.Join(at.dir, "tasks"), os.O_WRONLY, 0)
		if err != nil {
			for _, f := range all {
				_ = f.Close()
			}
			return nil
		}
		all = append(all, f)
	}
	g.doors = true
	return all
}

// Open reports whether the whole group is entered through [Group.Doors], so that [Group.Add] is
// not needed.
func (g *Group) Open() bool {
	return g == nil || g.doors && !slices.ContainsFunc(g.dirs, func(at place) bool { return at.version == 2 })
}

// Add moves a process, which must not have started another one yet, into the parts of the group
// that it does not enter through [Group.Doors]. A nil Group does nothing, as with [Group.End]. The
// machine's first process and this one are refused: processes that they start would be in the
// group too, and killed with it.
func (g *Group) Add(pid int) error {
	if g == nil {
		return nil
	}
	if isProtected(pid) {
		return fmt.Errorf("enter a control group: process %d is no command's", pid)
	}
	for _, at := range g.dirs {
		if g.doors && at.version == 1 {
			continue
		}
		if err := write(filepath.Join(at.dir, "cgroup.procs"), strconv.Itoa(pid)); err != nil {
			return fmt.Errorf("enter a control group: %w", err)
		}
	}
	return nil
}

// LimitsMet are the limits that a group reached.
type LimitsMet struct {
	Memory    bool // the kernel killed a process because of it
	Processes bool // the kernel refused a process or thread because of it
}

// End kills the remaining processes of the group, removes it, and returns the limits that it
// reached.
func (g *Group) End() (m LimitsMet) {
	if g == nil || len(g.dirs) == 0 {
		return m
	}
	g.kill()
	m = LimitsMet{Memory: g.counts("oom_kill ", "memory.events", "memory.oom_control"), Processes: g.counts("max ", "pids.events")}
	_ = g.Remove() // leftovers are removed when the next box is opened
	g.dirs = nil
	return m
}

// Forks reports whether the kernel limits the processes of the group, and counts refusals.
func (g *Group) Forks() bool {
	return g != nil && slices.ContainsFunc(g.dirs, func(at place) bool { return slices.Contains(at.kinds, "pids") })
}

// counts reports whether a kernel file has a non-zero count under a name.
func (g *Group) counts(name string, files ...string) bool {
	for _, at := range g.dirs {
		for _, file := range files {
			data, _ := os.ReadFile(filepath.Join(at.dir, file))
			for line := range strings.Lines(string(data)) {
				if n, ok := strings.CutPrefix(strings.TrimSpace(line), name); ok && n != "0" {
					return true
				}
			}
		}
	}
	return false
}

// isProtected reports whether a process is the parent of processes outside of all commands.
func isProtected(pid int) bool { return pid <= 1 || pid == os.Getpid() }

// members returns the processes in the group; those of another namespace have the number 0 here.
func (at place) members() []int {
	data, _ := os.ReadFile(filepath.Join(at.dir, "cgroup.procs"))
	var all []int
	for f := range strings.FieldsSeq(string(data)) {
		if pid, err := strconv.Atoi(f); err == nil {
			all = append(all, pid)
		}
	}
	return all
}

// write writes to an existing file.
func write(file, value string) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}
