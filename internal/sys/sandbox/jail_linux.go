package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/cgroup"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/jail"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/proc"
)

// runJail runs a command in a jail, whose first process is this program.
func (b *Box) runJail(ctx context.Context, c Command) (Result, error) {
	runtime.LockOSThread() // the command dies with the thread that started it; see runBwrap
	defer runtime.UnlockOSThread()

	mark := newProcessMark(c.Mark)
	s, done, err := b.jailSpec(c, mark)
	if err != nil {
		return Result{}, err
	}
	defer done()
	in, err := b.newJailStart(s, c, mark)
	defer in.close()
	if err != nil {
		return Result{}, err
	}
	var a commandPipeReader
	defer a.close()
	var said []byte
	word, err := a.addOutputPipe(func(p []byte) { said = append(said, p...) })
	if err != nil {
		return Result{}, err
	}
	door, err := openEgressReceiver(ctx, c)
	if err != nil {
		return Result{}, err
	}
	defer door.Close()
	a.theirs = append(a.theirs, door.boxEnd())
	cmd := &exec.Cmd{
		Path: "/proc/self/exe", Args: []string{"/proc/self/exe", jail.JailArg}, Dir: "/",
		Env: []string{Mark + "=" + mark, "GOGC=off"}, // garbage collection is not worth its cost for a few small objects
	}
	cmd.ExtraFiles = slices.Concat([]*os.File{in.spec, word, door.boxEnd()}, in.doors)
	o, w := newOutputCapture(c), newLimitWatch(c)
	began, ended, err := o.startWithOutput(&a, cmd, c.Stdin, b.jailProcAttr())
	if err != nil {
		return Result{}, fmt.Errorf("start a jail: %w", err)
	}
	in.letGo(cmd.Process.Pid)
	w.began = began
	w.kill, w.use = b.jailControls(cmd.Process, c.Limits.CPU > 0)
	stop := context.AfterFunc(ctx, w.kill)
	a.readUntilExit(ended, w.killIfOver)
	_ = cmd.Wait() // the jail's report has the result
	stop()
	r := Result{Duration: time.Since(began), Over: w.over}
	gone := true
	if b.mode == ModeLandlock {
		gone = proc.KillCommandProcesses(cmd.Process.Pid, mark, r.Duration)
	}
	a.drainPipes(gracePeriod(gone))
	o.fillResult(&r)
	switch {
	case w.finishGroup(ctx, in.group, &r):
		return r, nil
	case ctx.Err() != nil:
		return killedResult(ctx, r)
	}
	return jailResult(c, r, said, cmd.ProcessState)
}

// findControlGroupParent returns the parent of new control groups, nil if none can be made.
func findControlGroupParent() *cgroup.ControlGroupParent {
	p, _ := cgroup.FindParent()
	proc.SweepTemp(boxHomePrefix) // no process in an old group can write there any more
	return p
}

// jailStartResources has the resources with which a jail starts.
type jailStartResources struct {
	spec  *os.File // its specification
	group *cgroup.ControlGroup
	doors []*os.File        // descriptors of the group
	letGo func(process int) // lets the jail continue, if it has no descriptor for each of its groups
}

// newJailStart creates the resources for a jail; close releases them, also after an error.
func (b *Box) newJailStart(s jail.JailSpec, c Command, mark string) (in jailStartResources, err error) {
	in.group, in.letGo = b.newCommandGroup(c, mark), func(int) {}
	s.Limits = raiseSharedLimits(s.Limits, in.group)
	in.doors = in.group.OpenEntryFiles()
	s.Join = len(in.doors)
	if in.spec, err = s.OpenFile(); err != nil || in.group.IsEnteredByFiles() {
		return in, err
	}
	begin, err := jail.BlockJailStart(in.spec)
	in.letGo = func(process int) {
		_ = in.group.AddProcess(process) // its usage is also watched
		begin()
	}
	return in, err
}

// close kills the remaining processes in the group, and removes it.
func (in jailStartResources) close() {
	for _, f := range append(in.doors, in.spec) {
		_ = f.Close()
	}
	in.group.KillAndRemove()
}

// newCommandGroup creates the group of one command, or returns nil.
func (b *Box) newCommandGroup(c Command, mark string) *cgroup.ControlGroup {
	if b.groups == nil {
		return nil
	}
	g, _ := b.groups.NewGroup(filepath.Base(mark), cgroup.ControlGroupLimits{Memory: c.Limits.Memory, Processes: c.Limits.Processes + 32}) // plus the jail's own threads
	return g
}

// raiseSharedLimits raises a per-user kernel limit if a group has the same limit: the group counts
// its refusals, so its limit should be reached first.
func raiseSharedLimits(l ResourceLimits, g *cgroup.ControlGroup) ResourceLimits {
	if l.Processes > 0 && g.LimitsProcesses() {
		l.Processes += 256
	}
	return l
}

// jailResult evaluates a jail's report.
func jailResult(c Command, r Result, said []byte, state *os.ProcessState) (Result, error) {
	var w jail.ExitReport
	if err := json.Unmarshal(said, &w); err != nil {
		return Result{}, fmt.Errorf("the sandbox was ended from inside (%s): %s", state, sanitize.TruncateText(string(r.Stderr), 500))
	}
	switch {
	case w.Exit != nil:
		r.Exit = *w.Exit
		return r, nil
	case w.Missing:
		return Result{}, programNotFoundError(c.Args[0])
	}
	return Result{}, errors.New("sandbox: " + w.Error)
}

// jailProcAttr returns the attributes of a jail's first process.
func (b *Box) jailProcAttr() *syscall.SysProcAttr {
	a := proc.NewSessionAttributes()
	if b.mode == ModeLandlock {
		a.Pdeathsig = syscall.SIGTERM // it kills its processes, and ends
		return a
	}
	a.Cloneflags = unix.CLONE_NEWUSER | unix.CLONE_NEWNS | unix.CLONE_NEWPID | unix.CLONE_NEWNET |
		unix.CLONE_NEWIPC | unix.CLONE_NEWUTS | unix.CLONE_NEWCGROUP
	uid, gid := os.Geteuid(), os.Getegid()
	a.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
	a.GidMappings = []syscall.SysProcIDMap{{ContainerID: gid, HostID: gid, Size: 1}}
	a.AmbientCaps = jail.RequiredCapabilities()
	return a
}

// jailControls returns functions that kill a running jail and measure its usage.
func (b *Box) jailControls(p *os.Process, cpu bool) (kill func(), use func() (proc.ResourceUsage, bool)) {
	if b.mode == ModeLandlock {
		return func() { _ = p.Signal(syscall.SIGTERM) }, func() (proc.ResourceUsage, bool) { return proc.DescendantUsage(p.Pid, cpu), true }
	}
	return func() { _ = p.Kill() }, func() (proc.ResourceUsage, bool) { return proc.NamespaceUsage(p.Pid, cpu) }
}

// jailSpec returns a jail's specification, and a cleanup function.
func (b *Box) jailSpec(c Command, mark string) (s jail.JailSpec, done func(), err error) {
	s = jail.JailSpec{Kind: jail.KindNamespaces, Args: c.Args, Dir: c.Dir, Env: c.boxEnviron(jail.BoxHome, mark), Limits: c.Limits, Door: c.Proxy != nil && b.mode == ModeNative, Local: c.localPorts()}
	writable := c.writableDirs()
	if b.mode == ModeNative {
		s.Mounts = b.commandMounts(c)
		s.Writable = append(writable, "/tmp", varTmp)
		return s, func() {}, nil
	}
	tmp, done := c.Tmp, func() {}
	if tmp == "" {
		if tmp, err = proc.MakeTempDir(boxHomePrefix); err != nil {
			return s, nil, fmt.Errorf("make a home: %w", err)
		}
		done, s.Own = func() { _ = os.RemoveAll(tmp) }, tmp
	}
	home := filepath.Join(tmp, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		done()
		return s, nil, fmt.Errorf("make a home: %w", err)
	}
	s.Kind = jail.KindGuard
	s.Env = append(c.boxEnviron(home, mark), "TMPDIR="+tmp)
	if _, own := lookupVar(c.Env, "GIT_CONFIG_SYSTEM"); !own {
		s.Env = append(s.Env, "GIT_CONFIG_NOSYSTEM=1") // git fails on a file that it may not read
	}
	s.Env = keepLastValues(s.Env)
	s.Writable = append(writable, tmp)
	for _, m := range b.system {
		s.Readable = append(s.Readable, m.Path)
	}
	s.Readable = append(append(append(s.Readable, b.tools...), c.Readable...), c.Dir, "/proc", "/etc/ssl/openssl.cnf") // programs read their own entries there, and the existence of other paths may be checked
	return s, done, nil
}

// writableDirs returns the command's writable directories.
func (c Command) writableDirs() []string {
	dirs := append([]string{c.Dir}, c.Writable...)
	return slices.DeleteFunc(dirs, func(d string) bool { return slices.Contains(c.Readable, d) })
}
