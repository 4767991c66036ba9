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

// ControlGroupLimits are the limits of a group. Zero means no limit.
type ControlGroupLimits struct {
	Memory    int64 // bytes, including cached files
	Processes int   // processes and threads
}

// cgroupDir is a directory of a hierarchy in which groups are created.
type cgroupDir struct {
	dir     string
	kinds   []string // controllers
	version int
}

// ControlGroupParent creates groups.
type ControlGroupParent struct {
	places []cgroupDir
	prefix string // prefix of the names of this process's groups
}

// errNone is returned if no group can be created.
var errNone = errors.New("no control group can be made here")

// v1Controllers are the useful controllers of version 1; freezer is needed for killing safely. The
// cpu controller is not among them: moving a process into it takes 12 ms on a busy machine, and
// into all others 0.6.
func v1Controllers() []string { return []string{"memory", "pids", "freezer"} }

// findGroupDirs parses the groups of this process, from /proc/self/cgroup, and the mounts, from
// /proc/self/mountinfo.
func findGroupDirs(groups, mounts string, may func(dir string) bool, read func(file string) string) []cgroupDir {
	var found []cgroupDir
	have := map[string]bool{}
	for _, h := range parseHierarchies(groups, mounts) {
		if h.version == 1 {
			if slices.ContainsFunc(h.kinds, func(k string) bool { return slices.Contains(v1Controllers(), k) }) && may(h.dir) {
				found = append(found, h.cgroupDir)
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
				found = append(found, cgroupDir{dir, on, 2})
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

type cgroupHierarchy struct {
	cgroupDir
	top string // mount point
}

// parseHierarchies returns the directories of a process's groups.
func parseHierarchies(groups, mounts string) []cgroupHierarchy {
	var all []cgroupHierarchy
	for line := range strings.Lines(groups) {
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) != 3 || !strings.HasPrefix(f[2], "/") || strings.Contains("/"+f[2]+"/", "/../") {
			continue
		}
		kinds, version := strings.Split(f[1], ","), 1
		if f[0] == "0" && f[1] == "" {
			kinds, version = nil, 2
		}
		if top, root, ok := findMount(mounts, kinds, version); ok {
			inside, below := strings.CutPrefix(f[2], strings.TrimSuffix(root, "/"))
			if !below {
				inside = "" // it is the view of another namespace
			}
			all = append(all, cgroupHierarchy{cgroupDir{filepath.Join(top, inside), kinds, version}, top})
		}
	}
	return all
}

// findMount returns the mount point of a hierarchy, and its mounted part.
func findMount(mounts string, kinds []string, version int) (top, root string, ok bool) {
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

// LimitedResources returns the resources that the kernel limits in a group.
func (p *ControlGroupParent) LimitedResources() []string {
	if p == nil {
		return nil
	}
	var all []string
	for _, k := range []string{"memory", "pids", "cpu"} {
		if slices.ContainsFunc(p.places, func(at cgroupDir) bool { return slices.Contains(at.kinds, k) }) {
			all = append(all, k)
		}
	}
	return all
}

// ControlGroup is one group, in all hierarchies.
type ControlGroup struct {
	dirs  []cgroupDir // their own directories
	doors bool        // version 1 directories are entered through [ControlGroup.OpenEntryFiles]
}

// NewGroup creates a group.
func (p *ControlGroupParent) NewGroup(name string, l ControlGroupLimits) (*ControlGroup, error) {
	g := &ControlGroup{}
	for _, at := range p.places {
		dir := cgroupDir{filepath.Join(at.dir, p.prefix+name), at.kinds, at.version}
		if err := os.Mkdir(dir.dir, 0o755); err != nil {
			return nil, errors.Join(fmt.Errorf("make a control group: %w", err), g.Remove())
		}
		g.dirs = append(g.dirs, dir)
		if err := dir.setLimits(l); err != nil {
			return nil, errors.Join(fmt.Errorf("bound a control group: %w", err), g.Remove())
		}
	}
	return g, nil
}

// setLimits sets the limits. A group of version 2 gets half of the usual CPU share, when others
// compete for it.
func (at cgroupDir) setLimits(l ControlGroupLimits) error {
	var errs error
	set := func(kind, file, value string) {
		if slices.Contains(at.kinds, kind) {
			errs = errors.Join(errs, writeFile(filepath.Join(at.dir, file), value))
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

// OpenEntryFiles opens files through which a thread enters the group by writing 0 to each, with all
// processes that it starts from then on. Moving another process instead blocks all forks and exits
// on the machine, and the kernel waits 10 ms for them. Groups of version 2 have no such files. If
// one cannot be opened, Doors returns none, and [ControlGroup.AddProcess] must be used. The caller closes the
// files.
func (g *ControlGroup) OpenEntryFiles() []*os.File {
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

// IsEnteredByFiles reports whether the whole group is entered through [ControlGroup.OpenEntryFiles], so that [ControlGroup.AddProcess] is
// not needed.
func (g *ControlGroup) IsEnteredByFiles() bool {
	return g == nil || g.doors && !slices.ContainsFunc(g.dirs, func(at cgroupDir) bool { return at.version == 2 })
}

// AddProcess moves a process, which must not have started another one yet, into the parts of the group
// that it does not enter through [ControlGroup.OpenEntryFiles]. A nil Group does nothing, as with [ControlGroup.KillAndRemove]. The
// machine's first process and this one are refused: processes that they start would be in the
// group too, and killed with it.
func (g *ControlGroup) AddProcess(pid int) error {
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
		if err := writeFile(filepath.Join(at.dir, "cgroup.procs"), strconv.Itoa(pid)); err != nil {
			return fmt.Errorf("enter a control group: %w", err)
		}
	}
	return nil
}

// ReachedLimits are the limits that a group reached.
type ReachedLimits struct {
	Memory    bool // the kernel killed a process because of it
	Processes bool // the kernel refused a process or thread because of it
}

// KillAndRemove kills the remaining processes of the group, removes it, and returns the limits that it
// reached.
func (g *ControlGroup) KillAndRemove() (m ReachedLimits) {
	if g == nil || len(g.dirs) == 0 {
		return m
	}
	g.killAll()
	m = ReachedLimits{Memory: g.hasCounted("oom_kill ", "memory.events", "memory.oom_control"), Processes: g.hasCounted("max ", "pids.events")}
	_ = g.Remove() // leftovers are removed when the next box is opened
	g.dirs = nil
	return m
}

// LimitsProcesses reports whether the kernel limits the processes of the group, and counts refusals.
func (g *ControlGroup) LimitsProcesses() bool {
	return g != nil && slices.ContainsFunc(g.dirs, func(at cgroupDir) bool { return slices.Contains(at.kinds, "pids") })
}

// hasCounted reports whether a kernel file has a non-zero count under a name.
func (g *ControlGroup) hasCounted(name string, files ...string) bool {
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

// memberPIDs returns the processes in the group; those of another namespace have the number 0 here.
func (at cgroupDir) memberPIDs() []int {
	data, _ := os.ReadFile(filepath.Join(at.dir, "cgroup.procs"))
	var all []int
	for f := range strings.FieldsSeq(string(data)) {
		if pid, err := strconv.Atoi(f); err == nil {
			all = append(all, pid)
		}
	}
	return all
}

// writeFile writes to an existing file.
func writeFile(file, value string) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}
