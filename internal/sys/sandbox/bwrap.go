package sandbox

import (
	"bytes"
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
	varTmp     = "/var/tmp"
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
	b.args = append(b.args, "--proc", "/proc", "--dev", "/dev", "--dir", "/run")
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
	views := b.views(c)
	if slices.ContainsFunc(views, func(v view) bool { return within(varTmp, v.path) }) {
		args = append(args, "--size", tmpSize, "--tmpfs", varTmp) // nothing can be shown through a link
	} else {
		args = append(args, "--symlink", "/tmp", varTmp)
	}
	for _, v := range views {
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

	cmd := exec.Command(b.bwrap, b.commandArgs(c)...) //nolint:noctx // the whole tree is killed below, not one process
	cmd.Env = c.environ(insideHome, newMark(c.Mark))
	cmd.Dir = "/"
	var a attendant
	defer a.close()
	var said status
	statusEnd, err := a.pipe(said.got)
	if err != nil {
		return Result{}, err
	}
	files, err := b.openEtc()
	if err != nil {
		return Result{}, err
	}
	cmd.ExtraFiles = append([]*os.File{statusEnd}, files...)
	o := newOutputs(c)
	began, ended, err := o.start(&a, cmd, c.Stdin)
	for _, f := range files {
		_ = f.Close()
	}
	if err != nil {
		return Result{}, fmt.Errorf("start bubblewrap: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = cmd.Process.Kill() })
	a.attend(ended)
	_ = cmd.Wait() // what it says is in the status
	stop()
	gone := said.end(killGrace)
	a.drain(grace(gone))
	r := Result{Duration: time.Since(began)}
	o.into(&r)
	if ctx.Err() != nil {
		return killed(ctx, r)
	}
	return said.result(c, r, cmd.ProcessState)
}

// start starts a command with its output going to o, and says when.
func (o *outputs) start(a *attendant, cmd *exec.Cmd, stdin io.Reader) (began time.Time, ended int, err error) {
	for _, k := range o.keepers() {
		f, err := a.pipe(func(p []byte) { o.got(k, p) })
		if err != nil {
			return began, -1, err
		}
		if cmd.Stdout == nil {
			cmd.Stdout = f
		}
		cmd.Stderr = f
	}
	cmd.Stdin = stdin
	cmd.SysProcAttr = ownSession()
	cmd.WaitDelay = killGrace // a reader of ours on stdin that never returns
	began = time.Now()        //nolint:forbidigo // only measures how long it ran
	ended, err = a.start(cmd)
	return began, ended, err
}

// grace is how long to read on when the command has ended. Where somebody who
// could not be killed still holds a pipe there is no waiting.
func grace(gone bool) time.Duration {
	if gone {
		return killGrace
	}
	return 0
}

// killed is what Run returns when it killed the command.
func killed(ctx context.Context, r Result) (Result, error) {
	r.Exit = -1
	if errors.Is(context.Cause(ctx), errTimeout) {
		r.TimedOut = true
		return r, nil
	}
	return r, context.Cause(ctx)
}

func (b *Box) openEtc() ([]*os.File, error) {
	var files []*os.File
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

// status is what bubblewrap tells, a line of JSON at a time. The line with an
// exit code comes only when the command was really started.
type status struct {
	text []byte
	init initProcess
	seen bool // init is known
	exit *int
}

func (s *status) got(p []byte) {
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
			s.init, s.seen = openInit(said.PID, said.Namespace), true
		}
		if said.Exit != nil {
			s.exit = said.Exit
		}
	}
}

// end kills what is left of the box, where bubblewrap was killed before it
// could, and reports whether it is gone.
func (s *status) end(limit time.Duration) bool {
	if !s.seen {
		return true
	}
	s.init.kill()
	return s.init.wait(limit)
}

func (s *status) result(c Command, r Result, state *os.ProcessState) (Result, error) {
	if s.exit != nil {
		r.Exit = *s.exit
		return r, nil
	}
	said := strings.TrimSpace(string(r.Stderr) + string(r.Stdout))
	if s.seen && strings.Contains(said, "execvp") {
		return Result{}, missing(c.Args[0])
	}
	return Result{}, fmt.Errorf("bubblewrap (%s): %.500s", state, said)
}

// probe shows that the box confines and that it still works, for a box that
// starts nothing keeps everything in. On a machine with much to do it may take
// long, so it gets a second chance.
func (b *Box) probe(ctx context.Context) error {
	return patiently(func(limit time.Duration) error { return b.try(ctx, limit) })
}

func patiently(try func(limit time.Duration) error) error {
	err := try(firstTrial)
	if errors.Is(err, errSlow) {
		err = try(secondTrial)
	}
	return err
}

// How long a trial may take.
const (
	firstTrial  = 10 * time.Second
	secondTrial = time.Minute
)

var errSlow = errors.New("a trial took too long")

// try runs one trial.
func (b *Box) try(ctx context.Context, limit time.Duration) error {
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
		Timeout: limit,
	})
	if err != nil && !errors.Is(err, errTimeout) {
		return err
	}
	if err != nil || r.TimedOut {
		return fmt.Errorf("%w, %s: %.300s", errSlow, limit, r.Stderr)
	}
	made, err := os.ReadFile(filepath.Join(in, "made"))
	if r.Exit != 7 || err != nil || string(made) != "ok\n" {
		return fmt.Errorf("a trial exited with %d: %.300s", r.Exit, r.Stderr)
	}
	return nil
}
