package sandbox

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/jail"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/proc"
)

// File descriptors of bubblewrap, after those of a jail, which it may start.
const (
	statusFD = 6 // it writes its status here
	holdFD   = 7 // it starts the command after reading from here
	filterFD = 8 // the system call filter; files to copy follow
)

// doorkeeperPath is the path of this program in a box with network access: it opens the sockets, and
// then executes the command.
const doorkeeperPath = "/run/nexus"

func newBubblewrapBox(path string) (*Box, error) {
	b := &Box{mode: ModeBwrap, bwrap: path, system: systemView(), tools: toolDirs(os.Environ()), groups: findControlGroupParent()}
	filter, err := jail.BuildSeccompFilter(true)
	b.filter = jail.EncodeSeccompFilter(filter)
	return b, err
}

// commandArgs returns bubblewrap's arguments for one command, and the files that it must copy.
func (b *Box) commandArgs(c Command) (args, files []string) {
	args = []string{
		"--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--hostname", "nexus",
		"--json-status-fd", strconv.Itoa(statusFD), "--block-fd", strconv.Itoa(holdFD), "--seccomp", strconv.Itoa(filterFD),
		// For the machine's root, parts of /proc are writable even without capabilities.
		"--proc", "/proc", "--remount-ro", "/proc", "--dev", "/dev", "--size", strconv.FormatInt(c.Limits.Tmp, 10), "--tmpfs", "/dev/shm", "--remount-ro", "/dev", "--dir", "/run",
	}
	for _, m := range b.commandMounts(c) {
		from := m.From
		if from == "" {
			from = m.Path
		}
		switch m.How {
		case jail.MountShow:
			args = append(args, "--ro-bind-try", from, m.Path)
		case jail.MountBind, jail.MountLayer: // bubblewrap has no layers, see [Box.SupportsWriteOverlay]
			args = append(args, "--bind", from, m.Path)
		case jail.MountLink:
			args = append(args, "--symlink", from, m.Path)
		case jail.MountCopy:
			args = append(args, "--perms", "0444", "--file", strconv.Itoa(filterFD+1+len(files)), m.Path)
			files = append(files, from)
		case jail.MountCover:
			if info, err := os.Lstat(m.Path); err == nil && info.IsDir() {
				args = append(args, "--perms", "0000", "--tmpfs", m.Path, "--remount-ro", m.Path)
			} else if err == nil {
				args = append(args, "--perms", "0000", "--ro-bind-data", strconv.Itoa(filterFD+1+len(files)), m.Path)
				files = append(files, os.DevNull)
			}
		case jail.MountTmpfs:
			args = append(args, "--size", strconv.FormatInt(m.Size, 10), "--tmpfs", m.Path)
		}
		if m.Path == "/tmp" {
			args = append(args, "--dir", jail.BoxHome)
		}
	}
	words := c.Args
	if c.Proxy != nil {
		exe, _ := os.Executable() // on failure, bubblewrap reports the error
		args, words = append(args, "--ro-bind", exe, doorkeeperPath), []string{doorkeeperPath, jail.JailArg}
	}
	args = append(args, "--remount-ro", "/", "--chdir", c.Dir, "--")
	return append(args, words...), files
}

func (b *Box) runBwrap(ctx context.Context, c Command) (Result, error) {
	// The kernel kills a child whose parent *thread* ends. Locking the thread until the child is
	// gone prevents that.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	mark := newProcessMark(c.Mark)
	args, copies := b.commandArgs(c)
	cmd := exec.Command(b.bwrap, args...) //nolint:noctx // the whole tree is killed below, not one process
	cmd.Env = c.boxEnviron(jail.BoxHome, mark)
	cmd.Dir = "/"
	var a commandPipeReader
	defer a.close()
	hold, release, err := os.Pipe()
	if err != nil {
		return Result{}, err
	}
	defer func() { _ = release.Close() }()
	group := b.newCommandGroup(c, mark)
	defer group.KillAndRemove()
	said := bwrapStatusReader{ready: func(first int, boxed bool) error {
		err := fmt.Errorf("process %d is in no box", first)
		if boxed {
			err = errors.Join(proc.SetRlimits(first, raiseSharedLimits(c.Limits, group).KernelLimits()), group.AddProcess(first))
		}
		if err != nil {
			return errors.Join(err, cmd.Process.Kill()) // it never runs without limits
		}
		_, err = release.Write([]byte{1})
		return err
	}}
	statusEnd, err := a.addOutputPipe(said.addOutput)
	if err != nil {
		return Result{}, errors.Join(err, hold.Close())
	}
	a.theirs = append(a.theirs, hold)
	files, err := b.openFiles(copies)
	if err != nil {
		return Result{}, err
	}
	a.theirs = append(a.theirs, files...)
	jailed, door, err := b.doorkeeperFiles(ctx, c, &a, &said)
	if err != nil {
		return Result{}, err
	}
	defer door.Close()
	cmd.ExtraFiles = slices.Concat(jailed, []*os.File{statusEnd, hold}, files)
	o, w := newOutputCapture(c), newLimitWatch(c)
	began, ended, err := o.startCommand(&a, cmd, c.Stdin)
	if err != nil {
		return Result{}, fmt.Errorf("start bubblewrap: %w", err)
	}
	w.began, w.kill = began, func() { _ = cmd.Process.Kill() }
	w.use = func() (proc.ResourceUsage, bool) { return proc.NamespaceUsage(said.pid, c.Limits.CPU > 0) }
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	a.readUntilExit(ended, w.killIfOver)
	_ = cmd.Wait() // the status has the result
	stop()
	gone := said.killRestOfBox(proc.Grace)
	a.drainPipes(gracePeriod(gone))
	r := Result{Duration: time.Since(began), Over: w.over}
	o.fillResult(&r)
	if w.finishGroup(ctx, group, &r) {
		return r, nil
	}
	if ctx.Err() != nil {
		return killedResult(ctx, r)
	}
	return said.commandResult(c, r, cmd.ProcessState)
}

// doorkeeperFiles returns the files for the doorkeeper, or none.
func (b *Box) doorkeeperFiles(ctx context.Context, c Command, a *commandPipeReader, said *bwrapStatusReader) ([]*os.File, *egressSocketReceiver, error) {
	if c.Proxy == nil {
		return make([]*os.File, statusFD-jail.SpecFD), nil, nil
	}
	spec, err := jail.JailSpec{Kind: jail.KindEgress, Args: c.Args, Dir: c.Dir, Env: c.Env, Local: c.localPorts()}.OpenFile()
	if err != nil {
		return nil, nil, err
	}
	a.theirs = append(a.theirs, spec)
	word, err := a.addOutputPipe(func(p []byte) { said.word = append(said.word, p...) })
	if err != nil {
		return nil, nil, err
	}
	door, err := openEgressReceiver(ctx, c)
	a.theirs = append(a.theirs, door.boxEnd())
	return []*os.File{spec, word, door.boxEnd()}, door, err
}

// openFiles returns the filter and the files that bubblewrap must copy.
func (b *Box) openFiles(copies []string) ([]*os.File, error) {
	filter, err := jail.OpenMemoryFile(b.filter)
	if err != nil {
		return nil, err
	}
	files := []*os.File{filter}
	for _, name := range copies {
		f, err := os.Open(name)
		if err != nil {
			f, err = os.Open(os.DevNull)
		}
		if err != nil {
			for _, f := range files {
				_ = f.Close()
			}
			return nil, fmt.Errorf("open %s: %w", name, err)
		}
		files = append(files, f)
	}
	return files, nil
}

// bwrapStatusReader is bubblewrap's status, which it writes as lines of JSON. The line with an exit code is
// written only if the command was really started.
type bwrapStatusReader struct {
	// ready is called once, when the first process waits to start; boxed is false if the number
	// belongs to another process.
	ready func(first int, boxed bool) error
	text  []byte
	pid   int // of the first process
	init  proc.BoxInitProcess
	seen  bool // init is known
	exit  *int
	word  []byte // report of a doorkeeper that could not execute the command
	err   error  // error of ready
}

func (s *bwrapStatusReader) addOutput(p []byte) {
	s.text = append(s.text, p...)
	for {
		line, rest, ok := bytes.Cut(s.text, []byte("\n"))
		if !ok {
			return
		}
		s.text = rest
		var said struct {
			PID       int    `json:"child-pid"`
			Namespace uint64 `json:"pid-namespace"`
			Exit      *int   `json:"exit-code"`
		}
		if json.Unmarshal(line, &said) != nil {
			continue
		}
		if said.PID != 0 && !s.seen {
			s.init, s.seen, s.pid = proc.OpenInitProcess(said.PID, said.Namespace), true, said.PID
			s.err = s.ready(said.PID, s.init >= 0)
		}
		if said.Exit != nil {
			s.exit = said.Exit
		}
	}
}

// killRestOfBox kills the rest of the box, if bubblewrap was killed before it could, and reports whether it
// is gone.
func (s *bwrapStatusReader) killRestOfBox(limit time.Duration) bool {
	if !s.seen {
		return true
	}
	s.init.Kill()
	return s.init.Wait(limit)
}

func (s *bwrapStatusReader) commandResult(c Command, r Result, state *os.ProcessState) (Result, error) {
	if s.err != nil {
		return Result{}, fmt.Errorf("bound the command: %w", s.err)
	}
	if len(s.word) > 0 {
		return jailResult(c, r, s.word, state)
	}
	if s.exit != nil {
		r.Exit = *s.exit
		return r, nil
	}
	said := strings.TrimSpace(string(r.Stderr) + string(r.Stdout))
	if s.seen && strings.Contains(said, "execvp") {
		return Result{}, programNotFoundError(c.Args[0])
	}
	return Result{}, fmt.Errorf("bubblewrap (%s): %s", state, sanitize.TruncateText(said, 500))
}
