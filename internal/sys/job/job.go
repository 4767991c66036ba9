// Package job runs commands in the background of an agent's work: a server, a
// watcher, a long build. They run side by side in one box that is kept open
// for them, so that they share its loopback network and one can speak to
// another; so does every command that is run while the box is open. All of
// them are dead when the box is closed, and when this process is.
//
// In the box a shell waits for what to start and to stop, and says what has
// ended. Each job writes its output to a pipe of its own, which is read here.
package job

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
)

const (
	maxJobs    = 8       // at once
	maxKept    = 1 << 20 // bytes of a job's output that wait to be read
	grace      = 2 * time.Second
	lastRead   = 2 * time.Second        // the longest wait for output when the box is gone
	settleTime = 200 * time.Millisecond // what a command left behind may continue
)

// boxScript runs in the box. A job's shell is told to end and says so; one that
// is killed cannot, so that is said for it.
const boxScript = `set -m
while read -r verb id; do
	p=p_$id
	case $verb in
	run) ( trap : TERM; "$NEXUS_SHELL" "$NEXUS_ROOM/$id.sh" </dev/null >"$NEXUS_ROOM/$id.out" 2>&1; echo "$id $?" ) & eval "$p=$!" ;;
	term) kill -TERM -- "-${!p}" ;;
	kill) kill -KILL -- "-${!p}"; echo "$id 137" ;;
	esac
done 2>/dev/null`

// Jobs are the background commands of one owner. It may be used by many
// goroutines; Close must be called.
type Jobs struct {
	run   func(context.Context, sandbox.Command) (sandbox.Result, error)
	shell string // bash, in the box

	mu    sync.Mutex
	room  *shellBox
	jobs  []*Job         // all, also of rooms before
	count map[string]int // jobs of each kind, ever
}

// New returns the jobs of an owner that has none. They run as run runs them,
// which is [sandbox.Box.Run].
func New(shell string, run func(context.Context, sandbox.Command) (sandbox.Result, error)) *Jobs {
	return &Jobs{run: run, shell: shell, count: map[string]int{}}
}

// shellBox is the box that is kept open.
type shellBox struct {
	dir  string
	in   *os.File
	stop context.CancelCauseFunc
	over chan struct{} // closed when everything in it is dead
	err  error         // why it could not be; set before over is closed

	reading sync.WaitGroup // one for each pipe
	said    []byte         // owned by who hears the box
}

// Job is one command.
type Job struct {
	ID      string
	Command string
	Began   time.Time

	room   *shellBox
	pipe   *os.File // our own end for writing, which keeps the other from ending
	heard  func([]byte)
	exited chan struct{} // closed when the command has ended
	ended  chan struct{} // closed when all of its output is read as well

	mu    sync.Mutex
	out   []byte // that nobody has read yet
	lost  int64  // bytes before it
	exit  int
	err   error
	fresh chan struct{} // closed at the next output
}

var (
	errClosed = errors.New("the box was closed")
	// errMany says that no more commands may run at once.
	errMany = fmt.Errorf("%d commands run in the background already; stop one first", maxJobs)
)

// HasRunning reports whether a job runs.
func (j *Jobs) HasRunning() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.countRunning() > 0
}

// countRunning counts; the caller has the lock.
func (j *Jobs) countRunning() int {
	n := 0
	for _, job := range j.jobs {
		if job.Running() {
			n++
		}
	}
	return n
}

// Find returns a job, nil where none has that name.
func (j *Jobs) Find(id string) *Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, job := range j.jobs {
		if job.ID == id {
			return job
		}
	}
	return nil
}

// All returns the jobs in the order that they were started in.
func (j *Jobs) All() []*Job {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]*Job(nil), j.jobs...)
}

// Start runs a command of the shell's language. What c says beside it holds
// for the box, and so only for the first job.
func (j *Jobs) Start(ctx context.Context, c sandbox.Command, command string, now time.Time) (*Job, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.countRunning() >= maxJobs {
		return nil, errMany
	}
	return j.start(ctx, c, "j", command, now, nil)
}

// Do runs a command beside the jobs and waits for its end, or until ctx ends.
// What it leaves behind in its group is killed then.
func (j *Jobs) Do(ctx context.Context, c sandbox.Command, command string) (sandbox.Result, error) {
	j.mu.Lock()
	job, err := j.start(ctx, c, "c", command, time.Time{}, c.Heard)
	j.mu.Unlock()
	if err != nil {
		return sandbox.Result{}, err
	}
	defer j.forget(job)
	err = job.wait(ctx)
	if err != nil {
		err = errors.Join(err, job.Stop(context.WithoutCancel(ctx)))
	} else {
		job.drainOutput(ctx)
	}
	var r sandbox.Result
	var lost int64
	r.Stdout, lost = job.Read()
	r.Cut = lost > 0
	if r.Exit = -1; err == nil {
		r.Exit, err = job.Exit()
	}
	return r, err
}

// forget takes a job off the list.
func (j *Jobs) forget(job *Job) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.jobs = slices.DeleteFunc(j.jobs, func(other *Job) bool { return other == job })
}

// start starts a job whose name begins with kind; the caller has the lock.
func (j *Jobs) start(ctx context.Context, c sandbox.Command, kind, command string, now time.Time, heard func([]byte)) (*Job, error) {
	if err := j.open(ctx, c); err != nil {
		return nil, err
	}
	j.count[kind]++
	job := &Job{
		ID: kind + strconv.Itoa(j.count[kind]), Command: command, Began: now, room: j.room, heard: heard,
		exited: make(chan struct{}), ended: make(chan struct{}), fresh: make(chan struct{}), exit: -1,
	}
	if err := job.start(); err != nil {
		return nil, fmt.Errorf("start a command in the background: %w", err)
	}
	j.jobs = append(j.jobs, job)
	if err := j.room.sendCommand("run", job.ID); err != nil {
		job.end(-1, err)
		return nil, err
	}
	return job, nil
}

// open opens the box unless it is; the caller has the lock.
func (j *Jobs) open(ctx context.Context, c sandbox.Command) error {
	if j.room != nil {
		select {
		case <-j.room.over: // it died, or was killed: the next one is a new one
			j.room.close()
		default:
			return nil
		}
	}
	dir, err := os.MkdirTemp(c.Tmp, "jobs-")
	if err != nil {
		return fmt.Errorf("make a place for background commands: %w", err)
	}
	theirs, in, err := os.Pipe()
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	ctx, stop := context.WithCancelCause(context.WithoutCancel(ctx)) // they outlive the call that starts them
	r := &shellBox{dir: dir, in: in, stop: stop, over: make(chan struct{})}
	c.Args, c.Stdin, c.Timeout, c.Merge, c.Cap = []string{j.shell, "-c", boxScript}, theirs, 0, false, 4096
	c.Env = append(append([]string(nil), c.Env...), "NEXUS_ROOM="+dir, "NEXUS_SHELL="+j.shell)
	c.Writable = append(append([]string(nil), c.Writable...), dir)
	c.Heard = func(p []byte) { r.parseOutput(p, j.Find) }
	j.room = r
	go func() { // waited for in clear, by way of over
		defer close(r.over)
		var res sandbox.Result
		res, r.err = j.run(ctx, c)
		why := errClosed
		if res.Over != "" {
			why = errors.New(res.Exceeded)
		}
		_ = theirs.Close()
		for _, job := range j.All() {
			if job.room == r {
				job.end(-1, why)
			}
		}
	}()
	return nil
}

// sendCommand gives the shell in the box something to do.
func (r *shellBox) sendCommand(verb, id string) error {
	if _, err := fmt.Fprintf(r.in, "%s %s\n", verb, id); err != nil {
		return fmt.Errorf("reach the box of background commands: %w", err)
	}
	return nil
}

// parseOutput takes what the shell in the box says: what ended, and how.
func (r *shellBox) parseOutput(p []byte, find func(string) *Job) {
	r.said = append(r.said, p...)
	for {
		line, rest, ok := bytes.Cut(r.said, []byte("\n"))
		if !ok {
			r.said = r.said[max(0, len(r.said)-100):] // a line of ours is short
			return
		}
		r.said = rest
		id, code, _ := strings.Cut(string(line), " ")
		if exit, err := strconv.Atoi(code); err == nil {
			if job := find(id); job != nil && job.room == r {
				job.end(exit, nil)
			}
		}
	}
}

// close ends everything in the box and takes its directory away.
func (r *shellBox) close() {
	r.stop(errClosed)
	_ = r.in.Close()
	<-r.over
	r.reading.Wait()
	_ = os.RemoveAll(r.dir) // of pipes and scripts
}

// Close kills every job and everything that they started.
func (j *Jobs) Close() {
	j.mu.Lock()
	r := j.room
	j.room = nil
	j.mu.Unlock()
	if r != nil {
		r.close()
	}
}

// start makes the job's script and pipe, and reads what comes.
func (job *Job) start() error {
	base := filepath.Join(job.room.dir, job.ID)
	if err := os.WriteFile(base+".sh", []byte(job.Command), 0o600); err != nil {
		return err
	}
	if err := syscall.Mkfifo(base+".out", 0o600); err != nil {
		return err
	}
	out, err := os.OpenFile(base+".out", os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return err
	}
	if job.pipe, err = os.OpenFile(base+".out", os.O_WRONLY|syscall.O_NONBLOCK, 0); err != nil {
		return errors.Join(err, out.Close())
	}
	job.room.reading.Add(1)
	go func() { // ends when every writer has closed the pipe, or in close
		defer job.room.reading.Done()
		_, _ = io.Copy(writer(job.addOutput), out)
		_ = out.Close()
		close(job.ended)
	}()
	go job.stopReadingAtEnd(out)
	return nil
}

// stopReadingAtEnd gives up on output when the box is gone.
func (job *Job) stopReadingAtEnd(out *os.File) {
	select {
	case <-job.ended:
	case <-job.room.over:
		_ = out.SetReadDeadline(time.Now().Add(lastRead)) //nolint:forbidigo // a deadline of the system's
		<-job.ended
	}
}

type writer func([]byte)

// Write implements [io.Writer].
func (w writer) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}

// addOutput takes output.
func (job *Job) addOutput(p []byte) {
	job.mu.Lock()
	job.out = append(job.out, p...)
	if over := len(job.out) - maxKept; over > 0 {
		job.lost += int64(over)
		job.out = append(job.out[:0], job.out[over:]...)
	}
	close(job.fresh)
	job.fresh = make(chan struct{})
	job.mu.Unlock()
	if job.heard != nil {
		job.heard(p)
	}
}

// end notes how the command ended, the first time that it is said.
func (job *Job) end(exit int, err error) {
	job.mu.Lock()
	pipe := job.pipe
	job.pipe = nil
	if pipe != nil {
		job.exit, job.err = exit, err
	}
	job.mu.Unlock()
	if pipe != nil {
		_ = pipe.Close() // so that the output ends when the last writer is gone
		close(job.exited)
	}
}

// Running reports whether the command has not ended.
func (job *Job) Running() bool {
	job.mu.Lock()
	defer job.mu.Unlock()
	return job.pipe != nil
}

// Exit returns how a command that has ended did: 128+n after signal n, -1
// where the box was closed, with the reason.
func (job *Job) Exit() (int, error) {
	job.mu.Lock()
	defer job.mu.Unlock()
	return job.exit, job.err
}

// Read returns the output since it was read last, and how many bytes before it
// are lost.
func (job *Job) Read() (out []byte, lost int64) {
	job.mu.Lock()
	defer job.mu.Unlock()
	out, lost = job.out, job.lost
	job.out, job.lost = nil, 0
	return out, lost
}

// wait waits until the command has ended, or ctx ends. What it left behind may
// continue.
func (job *Job) wait(ctx context.Context) error {
	select {
	case <-job.exited:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// drainOutput waits for the rest of the output of a command that has ended, and
// kills what still holds it.
func (job *Job) drainOutput(ctx context.Context) {
	for _, limit := range []time.Duration{settleTime, grace} {
		wait, stop := context.WithTimeoutCause(ctx, limit, errClosed)
		select {
		case <-job.ended:
		case <-wait.Done():
			_ = job.room.sendCommand("kill", job.ID) // what does not hear it ends with the box
		}
		stop()
	}
}

// WaitForOutput waits until there is output that was not read, the job has ended and
// what it said last had a moment to arrive, or ctx ends.
func (job *Job) WaitForOutput(ctx context.Context) {
	job.mu.Lock()
	fresh, have := job.fresh, len(job.out) > 0
	job.mu.Unlock()
	if have {
		return
	}
	select {
	case <-fresh:
	case <-ctx.Done():
	case <-job.exited:
		wait, stop := context.WithTimeoutCause(ctx, settleTime, errClosed)
		defer stop()
		select {
		case <-fresh:
		case <-job.ended:
		case <-wait.Done(): // what it left behind may say nothing for long
		}
	}
}

// Stop ends the command and what belongs to it, in a moment whether it wants
// or not. What left its group continues until the box is closed.
func (job *Job) Stop(ctx context.Context) error {
	for _, verb := range []string{"term", "kill"} {
		if !job.Running() {
			break
		}
		if err := job.room.sendCommand(verb, job.ID); err != nil {
			break // the box is gone, and so is the job
		}
		limit, stop := context.WithTimeoutCause(ctx, grace, errClosed)
		err := job.wait(limit)
		stop()
		if err == nil {
			job.drainOutput(ctx)
			return nil
		}
	}
	if job.Running() {
		return fmt.Errorf("%s does not end", job.ID)
	}
	return nil
}
