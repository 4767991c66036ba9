package cgroup

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// second returns groups of version 2 wherever they are mounted, with the
// controllers or without: to be in one, and to be killed with it, needs none.
func second(t *testing.T) *ControlGroupParent {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		testenv.NeedMachine(t, "control groups", err)
	}
	top, _, ok := findMount(string(mounts), nil, 2)
	if !ok {
		t.Skip(testenv.NoMachine + "no groups of version 2 are mounted")
	}
	p := &ControlGroupParent{places: []cgroupDir{{top, nil, 2}}, prefix: groupPrefix + "second-"}
	g, err := p.NewGroup("try", ControlGroupLimits{Memory: 1 << 30, Processes: 100}) // which nobody bounds here
	if err != nil {
		testenv.NeedMachine(t, "control groups", err)
	}
	if err := g.Remove(); err != nil {
		t.Fatal(err)
	}
	return p
}

// In a real group of version 2 all that a process starts is killed with it, at
// one word to the kernel, and the group goes.
func TestSecondVersion(t *testing.T) {
	p := second(t)
	g, err := p.NewGroup("kill", ControlGroupLimits{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(g.dirs[0].dir, "cgroup.kill")); err != nil {
		t.Skip(testenv.NoMachine + "a kernel before 5.14")
	}
	cmd, start, end := sleeper(t, `for i in 1 2 3; do setsid sh -c 'trap "" TERM; sleep 1000; :' & done; (setsid sleep 1000 &); wait`)
	if err := g.AddProcess(cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	for _, pid := range []int{1, os.Getpid()} {
		if g.AddProcess(pid) == nil {
			t.Errorf("process %d was put into a group", pid)
		}
	}
	start()
	wait(t, func() bool { return members(g) >= 5 }) // the control
	if !g.killAll() || members(g) != 0 {
		t.Errorf("%d are left", members(g))
	}
	end()
	if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGKILL {
		t.Errorf("%v", cmd.ProcessState)
	}
	dir := g.dirs[0].dir
	if g.KillAndRemove().Memory {
		t.Error("somebody died for want of memory")
	}
	if _, err := os.Stat(dir); err == nil {
		t.Errorf("%s is left", dir)
	}
}

// What was handed on to a group of version 2 is where memory and processes are
// bounded; without that there is no group to make.
func TestSecondVersionNeedsControllers(t *testing.T) {
	p := second(t)
	data, err := os.ReadFile(filepath.Join(p.places[0].dir, "cgroup.controllers"))
	if err != nil {
		t.Fatal(err)
	}
	on := strings.Fields(string(data))
	found := findGroupDirs("0::/\n", "1 1 0:1 / "+p.places[0].dir+" rw - cgroup2 cgroup2 rw\n", func(string) bool { return true }, func(file string) string {
		data, _ := os.ReadFile(file)
		return string(data)
	})
	if can := slices.Contains(on, "memory") && slices.Contains(on, "pids"); !can && len(found) > 0 {
		t.Errorf("controllers %q, and yet %v", on, found)
	}
}
