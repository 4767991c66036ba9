package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/democmd"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree/overlay"
)

// stage is a repository with a home of its own, a scripted model and the real
// program.
type stage struct {
	t      *testing.T
	exe    string
	home   string
	repo   string
	env    []string
	server *llmtest.Server
}

// sample is what a stage starts with.
type sample struct {
	script []byte // of the model
	write  func(dir string) error
}

// units is the sample of the demo, whose gates are those of Go.
func units() sample { return sample{script: democmd.ModelScript(), write: democmd.WriteSample} }

// killed is a sample whose gates are shell scripts.
func killed(t *testing.T) sample {
	t.Helper()
	script, err := os.ReadFile("testdata/kill.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return sample{script: script, write: func(dir string) error {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		for name, text := range texts() {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				return err
			}
		}
		return nil
	}}
}

func newStage(t *testing.T, exe string, of sample) *stage {
	t.Helper()
	script, err := llmtest.ParseScript(of.script)
	if err != nil {
		t.Fatal(err)
	}
	server, stop, err := llmtest.StartServer(t.Context(), script, llmtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	s := &stage{t: t, exe: exe, home: t.TempDir(), server: server}
	s.repo = filepath.Join(s.home, "sample")
	if err := of.write(s.repo); err != nil {
		t.Fatal(err)
	}
	if err := git.CreateRepo(t.Context(), s.repo, git.CommitIdentity{Name: "Ada", Email: "ada@example.com"}, "Begin"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"PATH", "GOROOT", "GOPATH", "GOMODCACHE", "TMPDIR"} {
		if v := os.Getenv(name); v != "" {
			s.env = append(s.env, name+"="+v)
		}
	}
	cache, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	s.env = append(s.env, "GOCACHE="+strings.TrimSpace(string(cache)),
		"HOME="+s.home, "XDG_STATE_HOME="+filepath.Join(s.home, "state"), "XDG_CONFIG_HOME="+filepath.Join(s.home, "config"),
		"STORY_LIMITS_LOSSES=100", // a run is killed more often here than anywhere
		"ANTHROPIC_API_KEY=scripted", "ANTHROPIC_BASE_URL="+server.URL(), "OPENAI_API_KEY=scripted", "OPENAI_BASE_URL="+server.URL()+"/v1",
	)
	return s
}

// start starts the program in the repository.
func (s *stage) start(args ...string) (*exec.Cmd, *bytes.Buffer) {
	s.t.Helper()
	return s.begin(nil, args...)
}

// begin starts the program with something to read.
func (s *stage) begin(in io.Reader, args ...string) (*exec.Cmd, *bytes.Buffer) {
	s.t.Helper()
	var out bytes.Buffer
	cmd := exec.CommandContext(s.t.Context(), s.exe, args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = s.repo, s.env, &out, &out
	cmd.Stdin, cmd.WaitDelay = in, patience // what it left behind does not hold the test
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	return cmd, &out
}

// journal opens the repository's journal to read, once it is there.
func (s *stage) journal(ctx context.Context) *journal.Journal {
	s.t.Helper()
	for {
		found, _ := filepath.Glob(filepath.Join(s.home, "state", "nexus", "*", "journal.db"))
		if len(found) == 1 {
			if j, err := journal.Open(ctx, found[0], journal.Options{Now: time.Now, ReadOnly: true, Poll: 2 * time.Millisecond}); err == nil {
				return j
			}
		}
		select {
		case <-ctx.Done():
			s.t.Fatal("there is no journal")
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// killAfter kills the program once the journal has grown by n events, and
// reports whether it was still there to be killed.
func (s *stage) killAfter(cmd *exec.Cmd, n int) bool {
	ctx, cancel := context.WithCancelCause(s.t.Context())
	ended := make(chan error, 1)
	go func() { // ends with the program, which every caller waits for
		ended <- cmd.Wait()
		cancel(errors.New("the program ended"))
	}()
	j := s.journal(ctx)
	defer j.Close()
	runs, _ := j.Runs(ctx)
	var after int64
	for _, r := range runs {
		after += r.Events
	}
	seen := 0
	for _, err := range j.Follow(ctx, "", after) {
		if seen++; err != nil || seen > n {
			break
		}
	}
	killed := ctx.Err() == nil
	_ = cmd.Process.Kill()
	<-ended
	return killed
}

// TestKill kills the whole program at random moments of a run, and resumes it
// each time. Nothing is lost, nothing lands twice, nothing is left behind, and
// no call of a model is paid for twice but the one in flight.
func TestKill(t *testing.T) {
	testenv.SkipUnderRaceDetector(t, "what is killed at random tells little about races, and takes long with it")
	kills := 10
	if n, err := strconv.Atoi(os.Getenv("NEXUS_KILLS")); err == nil {
		kills = n
	} else if testenv.RunsNightly() {
		kills = 1000
	}
	t.Parallel()
	exe := program(t)
	seed := uint64(time.Now().UnixNano())
	if n, err := strconv.ParseUint(os.Getenv("NEXUS_SEED"), 10, 64); err == nil {
		seed = n
	}
	t.Logf("NEXUS_SEED=%d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	for done := 0; done < kills; {
		s := newStage(t, exe, killed(t))
		before := fingerprint(t, s.repo)
		n := s.untilDone(r, kills-done)
		done += n
		s.check(n)
		if after := fingerprint(t, s.repo); after != before {
			t.Errorf("the user's checkout changed:\n%s\n%s", before, after)
		}
	}
}

// untilDone runs and kills, up to the given number of times, until the run is
// done, and returns how often it killed.
func (s *stage) untilDone(r *rand.Rand, most int) int {
	s.t.Helper()
	start := []string{"run", "Write six texts", "--headless"}
	args := start
	kills := 0
	for range 200 {
		cmd, out := s.start(args...)
		if kills < most && s.killAfter(cmd, r.IntN(40)) {
			kills++
		} else if err := cmd.Wait(); cmd.ProcessState.Success() {
			return kills
		} else if kills >= most {
			s.t.Fatalf("%v: %v\n%s", args, err, out)
		}
		args = []string{"resume", "--headless"}
		if s.none() {
			args = start
		}
	}
	s.t.Fatal("the run does not end")
	return kills
}

// none reports whether the program was killed before it accepted the goal.
func (s *stage) none() bool {
	found, _ := filepath.Glob(filepath.Join(s.home, "state", "nexus", "*", "journal.db"))
	if len(found) == 0 {
		return true
	}
	j, err := journal.Open(s.t.Context(), found[0], journal.Options{Now: time.Now, ReadOnly: true})
	if err != nil {
		return true
	}
	defer j.Close()
	runs, err := j.Runs(s.t.Context())
	return err != nil || len(runs) == 0
}

// check holds what is left against what must be.
func (s *stage) check(kills int) {
	t := s.t
	t.Helper()
	ctx := t.Context()
	j := s.journal(ctx)
	defer j.Close()
	if report, err := j.Verify(ctx); err != nil || !report.Sound {
		t.Errorf("verify: %+v, %v", report, err)
	}
	runs, err := j.Runs(ctx)
	if err != nil || len(runs) != 1 {
		t.Fatalf("runs %v, %v", runs, err)
	}
	st, err := state.ReplayRun(runs[0].ID, j.Events(ctx, runs[0].ID, 0))
	if err != nil {
		t.Fatal(err)
	}
	if st.Status != nexus.StatusDone || len(st.Landings) != 6 {
		t.Errorf("status %s, %d landings: %s", st.Status, len(st.Landings), st.Why)
	}
	log := s.git("log", "--format=%s", string(st.Goal.Base)+".."+st.Published.Branch)
	if n := strings.Count(log, "\n"); n != 6 {
		t.Errorf("%d commits on the branch:\n%s", n, log)
	}
	paid := map[string]int{}
	for _, q := range s.server.Requests() {
		paid[fmt.Sprintf("%s step %d", q.Conversation, q.Step)]++
	}
	twice := 0
	for _, n := range paid {
		twice += n - 1
	}
	if most := kills * st.Limits.Parallel; twice > most {
		t.Errorf("%d calls were made twice in %d kills with %d at once: %v", twice, kills, st.Limits.Parallel, paid)
	}
	t.Logf("%d kills: %d calls, %d of them again", kills, len(paid)+twice, twice)
	s.nothingLeft()
}

// nothingLeft reports processes, mounts and worktrees that outlived the run.
func (s *stage) nothingLeft() {
	s.t.Helper()
	if mounts, err := overlay.MountsBelow(s.home); err != nil || len(mounts) > 0 {
		s.t.Errorf("mounts are left: %v, %v", mounts, err)
	}
	cmd, out := s.start("clean")
	if err := cmd.Wait(); err != nil {
		s.t.Errorf("clean: %v\n%s", err, out)
	}
	trees, _ := filepath.Glob(filepath.Join(s.home, "state", "nexus", "*", "trees", "*", "*"))
	if len(trees) > 0 {
		s.t.Errorf("worktrees are left: %v", trees)
	}
	for _, p := range s.processes() {
		s.t.Errorf("a process is left: %s", p)
	}
}

// processes returns the command lines of processes that the run started.
func (s *stage) processes() []string {
	var lines []string
	procs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, p := range procs {
		if data, err := os.ReadFile(p); err == nil && bytes.Contains(data, []byte(s.home)) {
			line, _ := os.ReadFile(filepath.Join(filepath.Dir(p), "cmdline"))
			lines = append(lines, fmt.Sprintf("%s: %q", p, line))
		}
	}
	return lines
}

func (s *stage) git(args ...string) string {
	s.t.Helper()
	out, err := exec.CommandContext(s.t.Context(), "git", append([]string{"-C", s.repo}, args...)...).Output()
	if err != nil {
		s.t.Fatalf("git %v: %v", args, err)
	}
	return string(out)
}

// fingerprint hashes a checkout with everything that git keeps beside it but
// objects and the branches and notes that Nexus makes.
func fingerprint(t *testing.T, dir string) string {
	t.Helper()
	sum := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		switch {
		case err != nil:
			return err
		case rel == ".git/objects" || rel == ".git/refs/heads/nexus" || rel == ".git/logs/refs/heads/nexus":
			return fs.SkipDir
		case d.IsDir() || rel == ".git/refs/notes/nexus":
			return nil
		}
		var data []byte
		if d.Type()&fs.ModeSymlink != 0 {
			to, readErr := os.Readlink(path)
			data, err = []byte(to), readErr
		} else {
			data, err = os.ReadFile(path)
		}
		info, _ := d.Info()
		fmt.Fprintf(sum, "%s %s %x\n", rel, info.Mode(), sha256.Sum256(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", sum.Sum(nil))
}
