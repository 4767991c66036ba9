package cgroup

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// Who is not in the group any more, though its number was read there, is not
// killed: the number may be another's.
func TestKillOne(t *testing.T) {
	cmd, start, end := sleeper(t, `exit 7`)
	at := cgroupDir{t.TempDir(), []string{"pids"}, 1}
	list := func(pid int) {
		if err := os.WriteFile(filepath.Join(at.dir, "cgroup.procs"), fmt.Appendf(nil, "%d\n", pid), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list(os.Getpid())
	at.killMember(cmd.Process.Pid)
	at.killMember(os.Getpid())
	start()
	end()
	if cmd.ProcessState.ExitCode() != 7 {
		t.Errorf("one that is not in the group was killed: %v", cmd.ProcessState)
	}
	cmd, _, end = sleeper(t, `exit 7`) // the control
	list(cmd.Process.Pid)
	at.killMember(cmd.Process.Pid)
	end()
	if s, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || s.Signal() != syscall.SIGKILL {
		t.Errorf("one that is in the group was not killed: %v", cmd.ProcessState)
	}
}

// What a dead process left is found by the next, and what a living one has is
// spared.
func TestSweep(t *testing.T) {
	p := parent(t)
	mine, err := p.NewGroup("mine", ControlGroupLimits{})
	if err != nil {
		t.Fatal(err)
	}
	dead := *p
	space, _, _ := strings.Cut(strings.TrimPrefix(p.prefix, groupPrefix), "-")
	dead.prefix = groupPrefix + space + "-1-1-" // somebody had the number of the first process before it
	foreign := *p
	foreign.prefix = groupPrefix + "1-1-1-" // its numbers say nothing here
	other, err := foreign.NewGroup(strconv.Itoa(os.Getpid()), ControlGroupLimits{})
	if err != nil {
		t.Fatal(err)
	}
	var theirs *ControlGroup
	wait(t, func() bool { // others who test sweep too, and may be faster
		var err error
		if theirs, err = dead.NewGroup("x", ControlGroupLimits{}); err != nil {
			return false
		}
		cmd, start, _ := sleeper(t, `sleep 1000`)
		if theirs.AddProcess(cmd.Process.Pid) != nil {
			return false
		}
		start()
		return true
	})
	wait(t, func() bool { // others who test may sweep too
		p.removeDeadGroups()
		return !slices.ContainsFunc(theirs.dirs, func(at cgroupDir) bool { _, err := os.Stat(at.dir); return err == nil })
	})
	for _, at := range slices.Concat(mine.dirs, other.dirs) {
		if _, err := os.Stat(at.dir); err != nil {
			t.Error(err)
		}
	}
	if err := errors.Join(mine.Remove(), other.Remove()); err != nil {
		t.Error(err)
	}
}

// Who comes in through the doors is in every group of version 1 with all that
// it starts, and needs nobody to add it; who opened them stays outside.
func TestDoors(t *testing.T) {
	p := parent(t)
	g, err := p.NewGroup("doors", ControlGroupLimits{})
	if err != nil {
		t.Fatal(err)
	}
	doors := g.OpenEntryFiles()
	script := ":;"
	for i := range doors {
		script += fmt.Sprintf(" printf 0 >&%d;", 3+i)
	}
	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", script+" sleep 1000 & setsid sleep 1000 & wait")
	cmd.ExtraFiles = doors
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for _, f := range doors {
		_ = f.Close()
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }()    // the dead must not stay in the group
	if err := g.AddProcess(cmd.Process.Pid); err != nil { // where there is one of version 2 as well
		t.Fatal(err)
	}
	if len(doors) == len(g.dirs) != g.IsEnteredByFiles() {
		t.Errorf("%d doors of %d groups, and open is %t", len(doors), len(g.dirs), g.IsEnteredByFiles())
	}
	for _, at := range g.dirs {
		wait(t, func() bool { return len(at.memberPIDs()) == 3 }) // the shell and two that it started
		if slices.Contains(at.memberPIDs(), os.Getpid()) {
			t.Error("this process is in the group")
		}
	}
	if !g.killAll() || members(g) != 0 {
		t.Errorf("%d are left", members(g))
	}
	<-ended
	g.KillAndRemove()
}
