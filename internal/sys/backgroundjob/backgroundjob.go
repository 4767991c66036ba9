// Package backgroundjob runs commands in the background of an agent's work: a server, a watcher, a long
// build. They run side by side in one sandbox that is kept open for them, so that they share its
// loopback network and can connect to each other; so does every other command that runs while the
// sandbox is open. All of them are killed when the sandbox is closed or this process ends.
//
// In the sandbox, a shell waits for commands to start and to stop jobs, and reports their ends.
// Each job writes its output to a pipe of its own, which this package reads.
package backgroundjob

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
	maxJobs      = 8       // running at once
	maxKept      = 1 << 20 // bytes of a job's unread output
	stopGrace    = 2 * time.Second
	lastReadTime = 2 * time.Second        // limit for output after the end of the sandbox
	settleTime   = 200 * time.Millisecond // time for the output of processes that a command left running
)

// boxScript is the shell script in the sandbox. On stop, a job's shell reports its own end; a
// killed shell cannot, so the script reports it.
const boxScript = `set -m
while read -r verb id; do
	p=p_$id
	case $verb in
	run) ( trap : TERM; "$NEXUS_SHELL" "$NEXUS_ROOM/$id.sh" </dev/null >"$NEXUS_ROOM/$id.out" 2>&1; echo "$id $?" ) & eval "$p=$!" ;;
	term) kill -TERM -- "-${!p}" ;;
	kill) kill -KILL -- "-${!p}"; echo "$id 137" ;;
	esac
done 2>/dev/null`

// BackgroundJobs are the background commands of one owner. It may be used by many goroutines; Close must be
// called.
type BackgroundJobs struct {
	run   func(context.Context, sandbox.Command) (sandbox.Result, error)
	shell string // path of bash in the sandbox

	mu    sync.Mutex
	box   *jobSandbox
	jobs  []*BackgroundJob // all, including those of earlier sandboxes
	count map[string]int   // number of all jobs of each kind so far
}

// NewBackgroundJobs returns the jobs of an owner, without any job. They run with run, which is
// [sandbox.Box.Run].
func NewBackgroundJobs(shell string, run func(context.Context, sandbox.Command) (sandbox.Result, error)) *BackgroundJobs {
	return &BackgroundJobs{run: run, shell: shell, count: map[string]int{}}
}

// jobSandbox is the open sandbox.
type jobSandbox struct {
	dir  string
	in   *os.File
	stop context.CancelCauseFunc
	over chan struct{} // closed when all its processes are dead
	err  error         // reason of its end; set before over is closed

	reading sync.WaitGroup // one for each pipe
	said    []byte         // unparsed output of the shell; owned by the goroutine that reads it
}

// BackgroundJob is one command.
type BackgroundJob struct {
	ID      string
	Command string
	Began   time.Time

	box    *jobSandbox
	pipe   *os.File // our own writing end, which keeps the reading end open
	heard  func([]byte)
	exited chan struct{} // closed when the command has ended
	ended  chan struct{} // closed when all of its output was read, too

	mu    sync.Mutex
	out   []byte // unread output
	lost  int64  // dropped bytes before it
	exit  int
	err   error
	fresh chan struct{} // closed at the next output
}

var (
	errClosed = errors.New("the box was closed")
	// errMany is returned if too many commands run at once.
	errMany = fmt.Errorf("%d commands run in the background already; stop one first", maxJobs)
)

// HasRunning reports whether a job runs.
func (j *BackgroundJobs) HasRunning() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.countRunningJobs() > 0
}

// countRunningJobs counts the running jobs; the caller must hold the lock.
func (j *BackgroundJobs) countRunningJobs() int {
	n := 0
	for _, job := range j.jobs {
		if job.IsRunning() {
			n++
		}
	}
	return n
}

// Find returns a job, nil if there is none with that ID.
func (j *BackgroundJobs) Find(id string) *BackgroundJob {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, job := range j.jobs {
		if job.ID == id {
			return job
		}
	}
	return nil
}

// All returns the jobs in the order of their start.
func (j *BackgroundJobs) All() []*BackgroundJob {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]*BackgroundJob(nil), j.jobs...)
}

// Start starts a shell command. The other fields of c apply to the sandbox, and therefore only to
// the first job.
func (j *BackgroundJobs) Start(ctx context.Context, c sandbox.Command, command string, now time.Time) (*BackgroundJob, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.countRunningJobs() >= maxJobs {
		return nil, errMany
	}
	return j.startJob(ctx, c, "j", command, now, nil)
}

// RunForeground runs a command beside the jobs and waits for its end, or until ctx ends. Processes that it
// leaves in its group are killed then.
func (j *BackgroundJobs) RunForeground(ctx context.Context, c sandbox.Command, command string) (sandbox.Result, error) {
	j.mu.Lock()
	job, err := j.startJob(ctx, c, "c", command, time.Time{}, c.Heard)
	j.mu.Unlock()
	if err != nil {
		return sandbox.Result{}, err
	}
	defer j.removeJob(job)
	err = job.waitForEnd(ctx)
	if err != nil {
		err = errors.Join(err, job.Stop(context.WithoutCancel(ctx)))
	} else {
		job.waitForRemainingOutput(ctx)
	}
	var r sandbox.Result
	var lost int64
	r.Stdout, lost = job.Read()
	r.Cut = lost > 0
	if r.Exit = -1; err == nil {
		r.Exit, err = job.ExitCode()
	}
	return r, err
}

// removeJob removes a job from the list.
func (j *BackgroundJobs) removeJob(job *BackgroundJob) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.jobs = slices.DeleteFunc(j.jobs, func(other *BackgroundJob) bool { return other == job })
}

// startJob starts a job whose ID begins with kind; the caller must hold the lock.
func (j *BackgroundJobs) startJob(ctx context.Context, c sandbox.Command, kind, command string, now time.Time, heard func([]byte)) (*BackgroundJob, error) {
	if err := j.openSandbox(ctx, c); err != nil {
		return nil, err
	}
	j.count[kind]++
	job := &BackgroundJob{
		ID: kind + strconv.Itoa(j.count[kind]), Command: command, Began: now, box: j.box, heard: heard,
		exited: make(chan struct{}), ended: make(chan struct{}), fresh: make(chan struct{}), exit: -1,
	}
	if err := job.prepareAndRead(); err != nil {
		return nil, fmt.Errorf("start a command in the background: %w", err)
	}
	j.jobs = append(j.jobs, job)
	if err := j.box.sendCommand("run", job.ID); err != nil {
		job.recordExit(-1, err)
		return nil, err
	}
	return job, nil
}

// openSandbox opens the sandbox unless it is open; the caller must hold the lock.
func (j *BackgroundJobs) openSandbox(ctx context.Context, c sandbox.Command) error {
	if j.box != nil {
		select {
		case <-j.box.over: // it died or was killed: open a new one
			j.box.killAndRemove()
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
	ctx, stop := context.WithCancelCause(context.WithoutCancel(ctx)) // it outlives the call that opens it
	r := &jobSandbox{dir: dir, in: in, stop: stop, over: make(chan struct{})}
	c.Args, c.Stdin, c.Timeout, c.Merge, c.Cap = []string{j.shell, "-c", boxScript}, theirs, 0, false, 4096
	c.Env = append(append([]string(nil), c.Env...), "NEXUS_ROOM="+dir, "NEXUS_SHELL="+j.shell)
	c.Writable = append(append([]string(nil), c.Writable...), dir)
	c.Heard = func(p []byte) { r.parseOutput(p, j.Find) }
	j.box = r
	go func() { // killAndRemove waits for it through the channel over
		defer close(r.over)
		var res sandbox.Result
		res, r.err = j.run(ctx, c)
		why := errClosed
		if res.Over != "" {
			why = errors.New(res.Exceeded)
		}
		_ = theirs.Close()
		for _, job := range j.All() {
			if job.box == r {
				job.recordExit(-1, why)
			}
		}
	}()
	return nil
}

// sendCommand sends a command to the shell in the sandbox.
func (r *jobSandbox) sendCommand(verb, id string) error {
	if _, err := fmt.Fprintf(r.in, "%s %s\n", verb, id); err != nil {
		return fmt.Errorf("reach the box of background commands: %w", err)
	}
	return nil
}

// parseOutput parses the output of the shell in the sandbox: the ends of jobs with their exit
// codes.
func (r *jobSandbox) parseOutput(p []byte, find func(string) *BackgroundJob) {
	r.said = append(r.said, p...)
	for {
		line, rest, ok := bytes.Cut(r.said, []byte("\n"))
		if !ok {
			r.said = r.said[max(0, len(r.said)-100):] // our lines are short
			return
		}
		r.said = rest
		id, code, _ := strings.Cut(string(line), " ")
		if exit, err := strconv.Atoi(code); err == nil {
			if job := find(id); job != nil && job.box == r {
				job.recordExit(exit, nil)
			}
		}
	}
}

// killAndRemove kills all processes in the sandbox and removes its directory.
func (r *jobSandbox) killAndRemove() {
	r.stop(errClosed)
	_ = r.in.Close()
	<-r.over
	r.reading.Wait()
	_ = os.RemoveAll(r.dir) // pipes and scripts
}

// Close kills every job and all processes that they started.
func (j *BackgroundJobs) Close() {
	j.mu.Lock()
	r := j.box
	j.box = nil
	j.mu.Unlock()
	if r != nil {
		r.killAndRemove()
	}
}

// prepareAndRead creates the job's script and pipe, and reads its output.
func (job *BackgroundJob) prepareAndRead() error {
	base := filepath.Join(job.box.dir, job.ID)
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
	job.box.reading.Add(1)
	go func() { // ends when all writers have closed the pipe, or in close
		defer job.box.reading.Done()
		_, _ = io.Copy(writerFunc(job.addOutput), out)
		_ = out.Close()
		close(job.ended)
	}()
	go job.stopReadingAtEnd(out)
	return nil
}

// stopReadingAtEnd stops reading output after the sandbox has ended.
func (job *BackgroundJob) stopReadingAtEnd(out *os.File) {
	select {
	case <-job.ended:
	case <-job.box.over:
		_ = out.SetReadDeadline(time.Now().Add(lastReadTime)) //nolint:forbidigo // a deadline of the system's
		<-job.ended
	}
}

type writerFunc func([]byte)

// Write implements [io.Writer].
func (w writerFunc) Write(p []byte) (int, error) {
	w(p)
	return len(p), nil
}

// addOutput appends output.
func (job *BackgroundJob) addOutput(p []byte) {
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

// recordExit records how the command ended. Only the first call has an effect.
func (job *BackgroundJob) recordExit(exit int, err error) {
	job.mu.Lock()
	pipe := job.pipe
	job.pipe = nil
	if pipe != nil {
		job.exit, job.err = exit, err
	}
	job.mu.Unlock()
	if pipe != nil {
		_ = pipe.Close() // so that the output ends with the last writer
		close(job.exited)
	}
}

// IsRunning reports whether the command has not ended.
func (job *BackgroundJob) IsRunning() bool {
	job.mu.Lock()
	defer job.mu.Unlock()
	return job.pipe != nil
}

// ExitCode returns the exit code of a command that has ended: 128+n after signal n; -1, with the
// reason, if the sandbox was closed.
func (job *BackgroundJob) ExitCode() (int, error) {
	job.mu.Lock()
	defer job.mu.Unlock()
	return job.exit, job.err
}

// Read returns the output since the last call, and the number of dropped bytes before it.
func (job *BackgroundJob) Read() (out []byte, lost int64) {
	job.mu.Lock()
	defer job.mu.Unlock()
	out, lost = job.out, job.lost
	job.out, job.lost = nil, 0
	return out, lost
}

// waitForEnd waits until the command has ended, or ctx ends. Its leftover processes may continue.
func (job *BackgroundJob) waitForEnd(ctx context.Context) error {
	select {
	case <-job.exited:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// waitForRemainingOutput waits for the rest of the output of a command that has ended, and kills the
// processes that still have the pipe open.
func (job *BackgroundJob) waitForRemainingOutput(ctx context.Context) {
	for _, limit := range []time.Duration{settleTime, stopGrace} {
		wait, stop := context.WithTimeoutCause(ctx, limit, errClosed)
		select {
		case <-job.ended:
		case <-wait.Done():
			_ = job.box.sendCommand("kill", job.ID) // on failure, they end with the sandbox
		}
		stop()
	}
}

// WaitForOutput waits until there is unread output, or the job has ended and its last output had a
// moment to arrive, or ctx ends.
func (job *BackgroundJob) WaitForOutput(ctx context.Context) {
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
		case <-wait.Done(): // leftover processes may be silent for long
		}
	}
}

// Stop ends the command and its process group, by force after a moment. Processes that left the
// group continue until the sandbox is closed.
func (job *BackgroundJob) Stop(ctx context.Context) error {
	for _, verb := range []string{"term", "kill"} {
		if !job.IsRunning() {
			break
		}
		if err := job.box.sendCommand(verb, job.ID); err != nil {
			break // the sandbox is gone, and the job with it
		}
		limit, stop := context.WithTimeoutCause(ctx, stopGrace, errClosed)
		err := job.waitForEnd(limit)
		stop()
		if err == nil {
			job.waitForRemainingOutput(ctx)
			return nil
		}
	}
	if job.IsRunning() {
		return fmt.Errorf("%s does not end", job.ID)
	}
	return nil
}
