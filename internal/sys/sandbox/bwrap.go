package sandbox

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	insideHome = "/tmp/home" // the private home in a bubblewrap box
	tmpSize    = "2147483648"
	statusFD   = 3 // bubblewrap tells what it does; files for /etc follow
)

func newBwrap(path string) *Box {
	b := &Box{bwrap: path, etc: etcFiles(), tools: toolchains(os.Environ())}
	b.args = []string{
		"--unshare-all", "--die-with-parent", "--new-session", "--cap-drop", "ALL",
		"--hostname", "nexus", "--json-status-fd", strconv.Itoa(statusFD),
	}
	b.args = append(b.args, systemView()...)
	b.args = append(b.args, "--proc", "/proc", "--dev", "/dev", "--symlink", "/tmp", "/var/tmp", "--dir", "/run")
	for i, f := range b.etc {
		b.args = append(b.args, "--perms", "0444", "--file", strconv.Itoa(statusFD+1+i), f)
	}
	return b
}

// commandArgs returns bubblewrap's arguments for one command.
func (b *Box) commandArgs(c Command) []string {
	args := slices.Clone(b.args)
	if c.Tmp != "" {
		args = append(args, "--bind", c.Tmp, "/tmp")
	} else {
		args = append(args, "--size", tmpSize, "--tmpfs", "/tmp")
	}
	args = append(args, "--dir", insideHome)
	for _, v := range b.views(c) {
		args = append(args, v.how, v.path, v.path)
	}
	args = append(args, "--remount-ro", "/", "--chdir", c.Dir, "--")
	return append(args, c.Args...)
}

type view struct{ path, how string }

// views returns the paths of the host that the command sees, outer ones
// first, so that an inner one may be narrower or wider than what is around it.
func (b *Box) views(c Command) []view {
	how := map[string]string{}
	for _, p := range b.tools {
		how[p] = "--ro-bind-try"
	}
	for _, p := range append([]string{c.Dir}, c.Writable...) {
		how[p] = "--bind"
		// A link is not followed: it may have been made inside.
		if info, err := os.Lstat(filepath.Join(p, ".git")); err == nil && (info.IsDir() || info.Mode().IsRegular()) {
			how[filepath.Join(p, ".git")] = "--ro-bind"
		}
	}
	for _, p := range c.Readable {
		how[p] = "--ro-bind-try"
	}
	views := make([]view, 0, len(how))
	for p, h := range how {
		views = append(views, view{p, h})
	}
	slices.SortFunc(views, func(a, b view) int { return strings.Compare(a.path, b.path) })
	return views
}

func (b *Box) runBwrap(ctx context.Context, c Command) (Result, error) {
	// The kernel kills a child whose parent *thread* ends. Holding the thread
	// until the child is gone keeps it from ending early.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	s, err := openStreams(c)
	if err != nil {
		return Result{}, err
	}
	defer s.close()
	status, statusIn, err := os.Pipe()
	if err != nil {
		return Result{}, fmt.Errorf("open pipe: %w", err)
	}
	defer func() { _ = status.Close() }()
	extra, err := b.openEtc(statusIn)
	if err != nil {
		return Result{}, err
	}
	cmd := exec.Command(b.bwrap, b.commandArgs(c)...) //nolint:noctx // the whole tree is killed below, not one process
	cmd.Env = c.environ(insideHome, newMark(c.Mark))
	cmd.Dir = "/"
	cmd.ExtraFiles = extra
	began, err := s.start(cmd, c.Stdin)
	for _, f := range extra {
		_ = f.Close()
	}
	if err != nil {
		return Result{}, fmt.Errorf("start bubblewrap: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	said := bufio.NewReader(status)
	first := readStatus(said)
	init := openInit(first.PID, first.Namespace)
	_ = cmd.Wait() // what it says is in the status
	stop()
	init.kill() // at once, where bubblewrap was killed before it could
	alive := !init.wait(killGrace)
	s.finish(alive)
	r := Result{Duration: time.Since(began)}
	s.into(&r)
	if ctx.Err() != nil {
		return ended(ctx, r)
	}
	return b.exited(c, r, first, readStatus(said), cmd.ProcessState)
}

// start starts cmd on the streams and says when.
func (s *streams) start(cmd *exec.Cmd, stdin io.Reader) (time.Time, error) {
	cmd.Stdin = stdin
	cmd.Stdout = s.writers[0]
	cmd.Stderr = s.writers[len(s.writers)-1]
	cmd.SysProcAttr = ownSession()
	cmd.WaitDelay = killGrace // a reader of ours on stdin that never returns
	began := time.Now()       //nolint:forbidigo // only measures how long it ran
	if err := cmd.Start(); err != nil {
		return began, err
	}
	s.started()
	return began, nil
}

// finish waits for the rest of the output. Where somebody who could not be
// killed still holds a pipe it does not wait.
func (s *streams) finish(held bool) {
	wait := killGrace
	if held {
		wait = 0
	}
	for _, r := range s.readers {
		_ = r.SetReadDeadline(time.Now().Add(wait)) //nolint:forbidigo // a deadline of the kernel's
	}
	s.listening.Wait()
}

// ended is what Run returns when it killed the command.
func ended(ctx context.Context, r Result) (Result, error) {
	r.Exit = -1
	if errors.Is(context.Cause(ctx), errTimeout) {
		r.TimedOut = true
		return r, nil
	}
	return r, context.Cause(ctx)
}

func (b *Box) openEtc(status *os.File) ([]*os.File, error) {
	files := []*os.File{status}
	for _, name := range b.etc {
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

// status is one line of what bubblewrap tells. The line with an exit code
// comes only when the command was really started.
type status struct {
	PID       int    `json:"child-pid"`
	Namespace uint64 `json:"pid-namespace"`
	Exit      *int   `json:"exit-code"`
}

func readStatus(r *bufio.Reader) status {
	var s status
	line, err := r.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &s)
	}
	if err != nil {
		return status{}
	}
	return s
}

func (b *Box) exited(c Command, r Result, first, last status, state *os.ProcessState) (Result, error) {
	if last.Exit != nil {
		r.Exit = *last.Exit
		return r, nil
	}
	said := strings.TrimSpace(string(r.Stderr) + string(r.Stdout))
	if first.PID != 0 && strings.Contains(said, "execvp") {
		return Result{}, missing(c.Args[0])
	}
	return Result{}, fmt.Errorf("bubblewrap (%s): %.500s", state, said)
}

// probe shows that the box confines and that it still works, for a box that
// starts nothing keeps everything in.
func (b *Box) probe(ctx context.Context) error {
	dir, err := os.MkdirTemp("", "nexus-probe-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	in, out := filepath.Join(dir, "in"), filepath.Join(dir, "out")
	for _, d := range []string{in, out} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return err
		}
	}
	r, err := b.Run(ctx, Command{
		Args:    []string{"/bin/sh", "-c", `echo ok >made && test ! -e "$0" && test -w . && test "$HOME" = ` + insideHome + ` && exit 7`, out},
		Dir:     in,
		Env:     []string{"PATH=/usr/bin:/bin"},
		Timeout: 10 * time.Second,
	})
	if err != nil {
		return err
	}
	made, err := os.ReadFile(filepath.Join(in, "made"))
	if r.Exit != 7 || err != nil || string(made) != "ok\n" {
		return fmt.Errorf("a trial exited with %d: %.300s", r.Exit, r.Stderr)
	}
	return nil
}
