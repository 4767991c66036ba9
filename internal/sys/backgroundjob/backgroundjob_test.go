package backgroundjob

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/proc"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// child names the mark of a process that is to be killed; see
// TestDeadWithTheirProcess.
const child = "NEXUS_JOB_TEST"

func TestMain(m *testing.M) {
	if mark := os.Getenv(child); mark != "" {
		beKilled(mark, sandbox.ConfinementMode(os.Getenv(child+"_BOX")), os.Getenv(child+"_DIR"))
		return
	}
	goleak.VerifyTestMain(m)
}

// beKilled starts daemons, says so, and waits for its end.
func beKilled(mark string, mode sandbox.ConfinementMode, dir string) {
	ctx := context.Background()
	b, err := sandbox.FindSandbox(ctx, mode)
	if err != nil {
		panic(err)
	}
	j := NewBackgroundJobs("/bin/bash", b.Run)
	job, err := j.Start(ctx, sandbox.Command{Dir: dir, Env: sandbox.AgentCommandEnv(), Tmp: dir, Mark: mark}, "setsid sleep 1000 & nohup sleep 1000 & echo on; wait", time.Now())
	if err != nil {
		panic(err)
	}
	job.WaitForOutput(ctx)
	_ = os.WriteFile(filepath.Join(dir, "on"), nil, 0o600)
	select {}
}

// TestDeadWithTheirProcess kills the process that owns jobs: in a box that
// confines, they die with it, and without one the sweep finds them.
func TestDeadWithTheirProcess(t *testing.T) {
	for _, mode := range []sandbox.ConfinementMode{sandbox.ModeOff, sandbox.ModeAuto} {
		t.Run(string(mode), func(t *testing.T) {
			_, err := sandbox.FindSandbox(t.Context(), mode)
			testenv.NeedMachine(t, "a sandbox", err)
			dir, mark := t.TempDir(), "job-killed-"+string(mode)
			cmd := exec.Command(os.Args[0])
			cmd.Env = append(os.Environ(), child+"="+mark, child+"_BOX="+string(mode), child+"_DIR="+dir)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ctx := patient(t)
			until(ctx, func() bool { _, err := os.Stat(filepath.Join(dir, "on")); return err == nil })
			if proc.CountProcessesOf(mark) == 0 {
				t.Error("control: nothing runs")
			}
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			if mode == sandbox.ModeOff {
				if _, err := proc.KillProcessesOf(mark); err != nil {
					t.Error(err)
				}
			}
			if !until(ctx, func() bool { return proc.CountProcessesOf(mark) == 0 }) {
				t.Errorf("%d processes are left", proc.CountProcessesOf(mark))
			}
		})
	}
}

// until asks again and again.
func until(ctx context.Context, done func() bool) bool {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
	return true
}

// everywhere runs a test in each kind of box that there is here.
func everywhere(t *testing.T, do func(t *testing.T, j *BackgroundJobs, c sandbox.Command)) {
	t.Helper()
	for _, mode := range []sandbox.ConfinementMode{sandbox.ModeOff, sandbox.ModeAuto} {
		t.Run(string(mode), func(t *testing.T) {
			b, err := sandbox.FindSandbox(t.Context(), mode)
			if errors.Is(err, &nexus.Error{Code: nexus.CodeSandbox}) {
				testenv.NeedMachine(t, "a sandbox", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			j := NewBackgroundJobs("/bin/bash", b.Run)
			defer j.Close()
			do(t, j, sandbox.Command{Dir: t.TempDir(), Env: sandbox.AgentCommandEnv(), Tmp: t.TempDir(), Mark: "job-test"})
		})
	}
}

// patient is how long a busy machine may take.
func patient(t *testing.T) context.Context {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(stop)
	return ctx
}

// read waits until a job's output has a text.
func read(t *testing.T, job *BackgroundJob, want string) {
	t.Helper()
	ctx, got := patient(t), ""
	for !strings.Contains(got, want) && ctx.Err() == nil {
		job.WaitForOutput(ctx)
		out, _ := job.Read()
		got += string(out)
		select {
		case <-job.ended:
			out, _ := job.Read()
			if got += string(out); !strings.Contains(got, want) {
				t.Fatalf("%s ended and said %q, not %q", job.ID, got, want)
			}
		default:
		}
	}
	if !strings.Contains(got, want) {
		t.Fatalf("%s says %q, not %q", job.ID, got, want)
	}
}

func TestServer(t *testing.T) {
	testenv.NeedTool(t, "python3")
	everywhere(t, func(t *testing.T, j *BackgroundJobs, c sandbox.Command) { //nolint:thelper // it is the test
		server, err := j.Start(t.Context(), c, "echo up; exec python3 -u -c \"\nimport http.server,socketserver\ns=socketserver.TCPServer(('127.0.0.1',0),http.server.SimpleHTTPRequestHandler)\nopen('port','w').write(str(s.server_address[1]))\nprint('ready');s.serve_forever()\"", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		read(t, server, "ready")
		if err := os.WriteFile(filepath.Join(c.Dir, "hello"), []byte("from the server\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		ask := `python3 -c "import urllib.request;print(urllib.request.urlopen('http://127.0.0.1:'+open('port').read()+'/hello').read().decode())"`
		r, err := j.RunForeground(patient(t), c, ask) // another command reaches it
		if err != nil || r.Exit != 0 || !strings.Contains(string(r.Stdout), "from the server") {
			t.Errorf("%+v %v: %s", r, err, r.Stdout)
		}
		if !server.IsRunning() || len(j.All()) != 1 {
			t.Errorf("running %v, %d jobs", server.IsRunning(), len(j.All()))
		}
		if err := server.Stop(patient(t)); err != nil || server.IsRunning() {
			t.Error(err)
		}
		if exit, err := server.ExitCode(); exit != 143 || err != nil {
			t.Errorf("exit %d, %v", exit, err)
		}
	})
}

func TestEnds(t *testing.T) {
	everywhere(t, func(t *testing.T, j *BackgroundJobs, c sandbox.Command) { //nolint:thelper // it is the test
		ctx := patient(t)
		job, err := j.Start(ctx, c, "echo one; echo two >&2; exit 7", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if err := job.waitForEnd(ctx); err != nil {
			t.Fatal(err)
		}
		<-job.ended
		if out, lost := job.Read(); string(out) != "one\ntwo\n" || lost != 0 {
			t.Errorf("%q, %d", out, lost)
		}
		if exit, err := job.ExitCode(); exit != 7 || err != nil {
			t.Errorf("%d %v", exit, err)
		}
		// One that does not listen is killed.
		deaf, err := j.Start(ctx, c, "trap '' TERM; echo deaf; while :; do sleep 1; done", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		read(t, deaf, "deaf")
		if err := deaf.Stop(ctx); err != nil {
			t.Error(err)
		}
		if exit, _ := deaf.ExitCode(); exit != 137 {
			t.Errorf("exit %d", exit)
		}
		// Much output is bounded, and its end is kept.
		loud, err := j.Start(ctx, c, "seq 1 1000000", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		<-loud.ended
		if out, lost := loud.Read(); len(out) != maxKept || lost == 0 || !strings.HasSuffix(string(out), "\n1000000\n") {
			t.Errorf("%d bytes, %d lost", len(out), lost)
		}
		// A command beside them may run out of time, and takes its children along.
		if _, err := j.Start(ctx, c, "sleep 1000", time.Now()); err != nil {
			t.Fatal(err)
		}
		short, stop := context.WithTimeoutCause(ctx, 50*time.Millisecond, errors.New("too slow"))
		defer stop()
		if r, err := j.RunForeground(short, c, "echo begun; sleep 1000"); err == nil || !strings.Contains(err.Error(), "too slow") || r.Exit != -1 {
			t.Errorf("%+v %v", r, err)
		}
		r, err := j.RunForeground(ctx, c, "(sleep 1000; echo late) & echo done")
		if err != nil || r.Exit != 0 || string(r.Stdout) != "done\n" {
			t.Errorf("%+v %v", r, err)
		}
		for i := range maxJobs {
			_, err = j.Start(ctx, c, "sleep 1000", time.Now())
			if (err != nil) != (i == maxJobs-1) {
				t.Errorf("%d: %v", i, err)
			}
		}
	})
}

// TestNothingIsLeft closes the box while daemons of all kinds run.
func TestNothingIsLeft(t *testing.T) {
	everywhere(t, func(t *testing.T, j *BackgroundJobs, c sandbox.Command) { //nolint:thelper // it is the test
		for _, command := range []string{
			"echo on; exec sleep 1000", "setsid sleep 1000 & echo on; wait", "nohup sleep 1000 & disown; echo on; sleep 1000",
			"(trap '' TERM HUP; setsid sh -c 'sleep 1000; sleep 1000') & echo on",
		} {
			job, err := j.Start(t.Context(), c, command, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			read(t, job, "on")
		}
		if proc.CountProcessesOf(c.Mark) == 0 {
			t.Fatal("control: nothing runs")
		}
		j.Close()
		if n := proc.CountProcessesOf(c.Mark); n > 0 {
			t.Errorf("%d processes are left", n)
		}
		for _, job := range j.All() {
			if job.IsRunning() {
				t.Errorf("%s runs", job.ID)
			}
		}
		if left, _ := filepath.Glob(c.Tmp + "/jobs-*"); left != nil {
			t.Errorf("left %q", left)
		}
		// A new box is opened for the next.
		again, err := j.Start(t.Context(), c, "echo again", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		read(t, again, "again")
	})
}

func TestBoxThatCannotOpen(t *testing.T) {
	j := NewBackgroundJobs("/bin/bash", func(context.Context, sandbox.Command) (sandbox.Result, error) {
		return sandbox.Result{}, errors.New("no room")
	})
	defer j.Close()
	job, err := j.Start(t.Context(), sandbox.Command{Tmp: t.TempDir()}, "true", time.Now())
	if err != nil {
		return // it was quick to say so
	}
	if err := job.waitForEnd(patient(t)); err != nil {
		t.Fatal(err)
	}
	if exit, err := job.ExitCode(); exit != -1 || err == nil {
		t.Errorf("%d %v", exit, err)
	}
}
