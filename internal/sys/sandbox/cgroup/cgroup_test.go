package cgroup

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// What a process sees of itself on machines of each kind.
const (
	groupsV1 = "9:name=systemd:/\n8:pids:/\n6:freezer:/\n4:memory:/api/7\n2:cpuacct:/\n1:cpu:/\n0::/\n"
	mountsV1 = `30 25 0:26 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu
31 25 0:27 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct
33 25 0:29 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
35 25 0:31 / /sys/fs/cgroup/freezer rw - cgroup cgroup rw,freezer
37 25 0:33 / /sys/fs/cgroup/pids rw shared:9 - cgroup cgroup rw,pids
38 25 0:34 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
`
	groupsV2 = "0::/user.slice/user-1000.slice/user@1000.service/app.slice/app-x.scope\n"
	mountsV2 = "29 24 0:25 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"
)

func TestFind(t *testing.T) {
	service := "/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service"
	control := func(file string) string {
		switch filepath.Dir(file) {
		case service + "/app.slice":
			return "pids memory\n"
		case service, filepath.Dir(service), "/sys/fs/cgroup":
			return "cpu memory pids\n"
		}
		return ""
	}
	all := func(string) bool { return true }
	for _, c := range []struct {
		name           string
		groups, mounts string
		may            func(string) bool
		want           []string
	}{
		{"version 1", groupsV1, mountsV1, all, []string{"/sys/fs/cgroup/pids", "/sys/fs/cgroup/freezer", "/sys/fs/cgroup/memory/api/7"}},
		{"version 1, pids alone", groupsV1, mountsV1, func(d string) bool { return strings.Contains(d, "pids") }, []string{"/sys/fs/cgroup/pids"}},
		{"version 1, freezer alone", groupsV1, mountsV1, func(d string) bool { return strings.Contains(d, "freezer") }, nil},
		{"delegated", groupsV2, mountsV2, func(d string) bool { return strings.HasPrefix(d, service) }, []string{service + "/app.slice"}},
		{"only what is above is writable", groupsV2, mountsV2, func(d string) bool { return d == service }, []string{service}},
		{"not delegated", groupsV2, mountsV2, func(string) bool { return false }, nil},
		{"not mounted", groupsV2, "", all, nil},
		{"another namespace's", "0::/../../x\n", mountsV2, all, nil},
		{"a container", "4:memory:/docker/1\n8:pids:/docker/1\n", strings.ReplaceAll(mountsV1, " / /sys", " /docker/1 /sys"), all, []string{"/sys/fs/cgroup/memory", "/sys/fs/cgroup/pids"}},
	} {
		var got []string
		for _, p := range findGroupDirs(c.groups, c.mounts, c.may, control) {
			got = append(got, p.dir)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func FuzzFind(f *testing.F) {
	f.Add(groupsV1, mountsV1)
	f.Add(groupsV2, mountsV2)
	f.Fuzz(func(t *testing.T, groups, mounts string) {
		for _, p := range findGroupDirs(groups, mounts, func(string) bool { return true }, func(string) string { return "memory pids" }) {
			if !filepath.IsAbs(p.dir) || filepath.Clean(p.dir) != p.dir {
				t.Errorf("%q", p.dir)
			}
		}
	})
}

func parent(t *testing.T) *ControlGroupParent {
	t.Helper()
	p, err := FindParent()
	if err != nil {
		testenv.NeedMachine(t, "control groups", err)
	}
	return p
}

// sleeper starts a shell that waits to be told to continue; what it returns last
// waits for its end.
func sleeper(t *testing.T, script string) (cmd *exec.Cmd, start, end func()) {
	t.Helper()
	cmd = exec.CommandContext(t.Context(), "/bin/sh", "-c", "read go; "+script)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() { defer close(ended); _ = cmd.Wait() }() // the dead must not stay in the group
	end = func() { <-ended }
	t.Cleanup(func() { _ = cmd.Process.Kill(); end() })
	return cmd, func() { _, _ = in.Write([]byte("go\n")) }, end
}

func wait(t *testing.T, ready func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ready(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("waited in vain")
		}
	}
}

func members(g *ControlGroup) int {
	n := 0
	for _, at := range g.dirs {
		n = max(n, len(at.memberPIDs()))
	}
	return n
}

// All that a process starts is in its group, cannot leave it unseen, and is
// killed with it, whatever it made of itself.
func TestKill(t *testing.T) {
	p := parent(t)
	g, err := p.NewGroup("kill", ControlGroupLimits{})
	if err != nil {
		t.Fatal(err)
	}
	cmd, start, _ := sleeper(t, `for i in 1 2 3; do setsid sh -c 'trap "" TERM; sleep 1000; :' & done; (sleep 1000 & setsid sleep 1000 &) ; wait`)
	if err := g.AddProcess(cmd.Process.Pid); err != nil {
		t.Fatal(err)
	}
	start()
	wait(t, func() bool { return members(g) >= 6 }) // the control
	if !g.killAll() || members(g) != 0 {
		t.Errorf("%d are left", members(g))
	}
	if err := g.Remove(); err != nil {
		t.Error(err)
	}
}

// The machine's first process and this one are of no command: neither comes
// into a group, and a group that this one is in is left alone.
func TestKeeps(t *testing.T) {
	p := parent(t)
	g, err := p.NewGroup("keeps", ControlGroupLimits{})
	if err != nil {
		t.Fatal(err)
	}
	for _, pid := range []int{-1, 0, 1, os.Getpid()} {
		if g.AddProcess(pid) == nil {
			t.Errorf("process %d was put into a group", pid)
		}
	}
	if !g.killAll() || members(g) != 0 {
		t.Errorf("%d are in the group", members(g))
	}
	if err := g.Remove(); err != nil {
		t.Error(err)
	}
	// The files of a group that others have put this process into.
	there := filepath.Join(t.TempDir(), "group")
	cmd, _, _ := sleeper(t, `:`)
	for _, keeper := range []int{0, 1, os.Getpid()} { // 0 is one of another namespace
		if err := os.MkdirAll(there, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(there, "cgroup.procs"), fmt.Appendf(nil, "%d\n%d\n", cmd.Process.Pid, keeper), 0o644); err != nil {
			t.Fatal(err)
		}
		filled := ControlGroup{dirs: []cgroupDir{{there, []string{"pids"}, 1}}}
		if filled.killAll() || cmd.Process.Signal(syscall.Signal(0)) != nil {
			t.Errorf("a group with process %d was killed", keeper)
		}
	}
}

// The number of processes is bounded by the kernel, for root too.
func TestProcesses(t *testing.T) {
	p := parent(t)
	if !slices.Contains(p.LimitedResources(), "pids") {
		t.Skip(testenv.NoMachine + "no controller of processes")
	}
	for _, c := range []struct{ most, want int }{{0, 40}, {10, 9}} {
		g, err := p.NewGroup("pids", ControlGroupLimits{Processes: c.most})
		if err != nil {
			t.Fatal(err)
		}
		cmd, start, _ := sleeper(t, `for i in $(seq 40); do sleep 1000 & done 2>/dev/null; wait`)
		if err := g.AddProcess(cmd.Process.Pid); err != nil {
			t.Fatal(err)
		}
		start()
		wait(t, func() bool { return members(g) >= c.want })
		if n := members(g); c.most > 0 && n > c.most {
			t.Errorf("%d processes, at most %d", n, c.most)
		}
		g.killAll()
		if err := g.Remove(); err != nil {
			t.Error(err)
		}
	}
}

// Memory is bounded at once, and that somebody died of it is known.
func TestMemory(t *testing.T) {
	p := parent(t)
	if !slices.Contains(p.LimitedResources(), "memory") {
		t.Skip(testenv.NoMachine + "no controller of memory")
	}
	testenv.NeedTool(t, "perl")
	for most, starved := range map[int64]bool{0: false, 50 << 20: true} {
		g, err := p.NewGroup("memory", ControlGroupLimits{Memory: most})
		if err != nil {
			t.Fatal(err)
		}
		cmd, start, end := sleeper(t, `exec perl -e '$x = "x" x (200 << 20); exit 7'`)
		if err := g.AddProcess(cmd.Process.Pid); err != nil {
			t.Fatal(err)
		}
		start()
		end()
		died, counted := cmd.ProcessState.ExitCode() != 7, g.hasCounted("oom_kill ", "memory.events", "memory.oom_control")
		if died != starved || counted != starved {
			t.Errorf("at most %d: %v, starved %v", most, cmd.ProcessState, counted)
		}
		g.killAll()
		if err := g.Remove(); err != nil {
			t.Error(err)
		}
	}
}
