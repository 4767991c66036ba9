package worker_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/attempt"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
	"github.com/nexus-ai-builder/nexus/internal/work/worker/workertest"
)

// desk remembers what gates said as a run's state does.
type desk struct {
	mu    sync.Mutex // guards known
	known map[string]nexus.GateEvidence
}

func (d *desk) Record(_ context.Context, facts ...nexus.Fact) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, f := range facts {
		if f, ok := f.(nexus.GateJudged); ok {
			if d.known == nil {
				d.known = map[string]nexus.GateEvidence{}
			}
			d.known[f.Evidence.Tree+f.Evidence.Gate] = f.Evidence
		}
	}
	return nil
}

func (d *desk) Known(_ context.Context, tree, name string) (nexus.GateEvidence, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e, ok := d.known[tree+name]
	return e, ok
}

func (*desk) Reserve(context.Context, nexus.BudgetReserved, ...nexus.Fact) ([]state.Guidance, error) {
	return nil, nil
}
func (*desk) Ask(context.Context, nexus.QuestionAsked) (string, error) { return "", nil }

func (*desk) Spare(ctx context.Context, _ bool) (context.Context, context.CancelFunc) {
	return ctx, func() {}
}

// change writes a file into a new tree of base, and returns it as a case with
// its commit.
func change(t *testing.T, s *worker.AttemptWorker, id nexus.AttemptID, base string) (worker.TreeJudgeRequest, string) {
	t.Helper()
	tree, err := s.Trees.AddTree(t.Context(), "r", id, base)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tree.Remove(context.Background()) })
	if err := os.WriteFile(filepath.Join(tree.Dir, string(id)), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	commit, hash, err := tree.Snapshot(t.Context(), "work")
	if err != nil {
		t.Fatal(err)
	}
	return worker.TreeJudgeRequest{
		Tree: tree, Hash: hash, Base: base, Mark: func(f nexus.GateJudged) nexus.GateJudged { return f },
	}, commit
}

// TestOldFailuresAreNeverTheNextTasks lets one task land on a base that is
// red, and another start from there: what was red before both counts against
// neither.
func TestOldFailuresAreNeverTheNextTasks(t *testing.T) {
	s, base, _ := workertest.NewTestWorker(t, gate.QualityGate{Name: "lint", Args: []string{"sh", "-c", "cat bad; exit 1"}})
	d := &desk{}
	for _, id := range []nexus.AttemptID{"T1.1", "T2.1", "T3.1"} {
		c, commit := change(t, s, id, base)
		evidence, err := s.Judge.RunGates(t.Context(), c, d)
		if err != nil || len(evidence) != 1 || evidence[0].State != nexus.Pass {
			t.Fatalf("%s: %+v, %v", id, evidence, err)
		}
		base = commit
	}
}

// TestWarmUpIsToldBesideTheGate lets the clock stand still but while something
// compiles: that time is told beside the first gate of the base, once, and is
// not the gate's own.
func TestWarmUpIsToldBesideTheGate(t *testing.T) {
	gates := []gate.QualityGate{{Name: "build", Args: []string{"true"}}, {Name: "test", Args: []string{"true"}}}
	s, base, _ := workertest.NewTestWorker(t, gates...)
	s.Judge.Exe = filepath.Join(t.TempDir(), "nexus")
	warm := change1(t, s, "T1.1", base)
	if err := os.WriteFile(filepath.Join(warm.Tree.Dir, "go.mod"), []byte("module m\n\ngo 1.24\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(warm.Tree.Dir, "m.go"), []byte("package m\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	commit, _, err := warm.Tree.Snapshot(t.Context(), "in Go")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Unix(0, 0)
	s.Site.Now = func() time.Time { now = now.Add(time.Hour); return now }
	for _, c := range []struct {
		base string
		want string
	}{{base, "build 0s, test 0s"}, {commit, "build 1h0m0s, test 0s"}} {
		var d judged
		if _, _, err := s.Judge.Bases.JudgeOnBase(t.Context(), s.Judge, worker.JudgedBaseCommit{Commit: c.base}, gates, nil, &d); err != nil {
			t.Fatal(err)
		}
		var told []string
		for _, f := range d.all {
			told = append(told, fmt.Sprintf("%s %s", f.Evidence.Gate, f.WarmUp))
			if f.Evidence.Duration >= time.Hour {
				t.Errorf("%s took the time of the warm-up", f.Evidence.Gate)
			}
		}
		if got := strings.Join(told, ", "); got != c.want {
			t.Errorf("told %s, want %s", got, c.want)
		}
	}
}

// judged is a desk that keeps what was judged.
type judged struct {
	desk
	all []nexus.GateJudged
}

func (j *judged) Record(ctx context.Context, facts ...nexus.Fact) error {
	for _, f := range facts {
		if f, ok := f.(nexus.GateJudged); ok {
			j.all = append(j.all, f)
		}
	}
	return j.desk.Record(ctx, facts...)
}

// TestBaseIsCleanAfterACancel cancels a worker while a gate judges the base.
// What the gate had written is gone when the next worker judges it.
func TestBaseIsCleanAfterACancel(t *testing.T) {
	slow := gate.QualityGate{Name: "test", Args: []string{"sh", "-c", "echo x > dirt; sleep 60"}}
	s, base, _ := workertest.NewTestWorker(t, slow)
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		for dirt := filepath.Join(s.Site.State, "trees", "r", "base-"+base[:12], "tree", "dirt"); ctx.Err() == nil; {
			if _, err := os.Stat(dirt); err == nil {
				cancel(context.Canceled)
			}
		}
	}()
	c, _ := change(t, s, "T1.1", base)
	if _, err := s.Judge.RunGates(ctx, c, &desk{}); err == nil {
		t.Fatal("judged though it was cancelled")
	}
	s.Judge.Gates = func(string) ([]gate.QualityGate, error) {
		return []gate.QualityGate{{Name: "test", Args: []string{"sh", "-c", "test ! -e dirt"}}}, nil
	}
	d := &desk{}
	c, _ = change(t, s, "T2.1", base)
	if evidence, err := s.Judge.RunGates(t.Context(), c, d); err != nil || len(evidence) != 1 || evidence[0].State != nexus.Pass {
		t.Fatalf("%+v, %v", evidence, err)
	}
	for _, e := range d.known {
		if e.State != nexus.Pass {
			t.Errorf("the base was judged with what another gate left: %+v", e)
		}
	}
}

// TestWaitForABaseEnds cancels a worker while another one judges the base
// that both start from.
func TestWaitForABaseEnds(t *testing.T) {
	s, base, _ := workertest.NewTestWorker(t, gate.QualityGate{Name: "test", Args: []string{"sh", "-c", "echo x > dirt; sleep 60"}})
	first, second := change1(t, s, "T1.1", base), change1(t, s, "T2.1", base)
	judging, cancel := context.WithCancelCause(t.Context())
	over := make(chan error, 1)
	go func() {
		_, err := s.Judge.RunGates(judging, first, &desk{})
		over <- err
	}()
	for dirt := filepath.Join(s.Site.State, "trees", "r", "base-"+base[:12], "tree", "dirt"); ; {
		if _, err := os.Stat(dirt); err == nil {
			break
		}
	}
	why := errors.New("enough")
	waiting, stop := context.WithCancelCause(t.Context())
	waited := make(chan error, 1)
	go func() {
		_, err := s.Judge.RunGates(waiting, second, &desk{})
		waited <- err
	}()
	stop(why)
	select {
	case err := <-waited:
		if !errors.Is(err, why) {
			t.Error(err)
		}
	case err := <-over:
		t.Errorf("the gate ended before the wait did: %v", err)
	}
	cancel(why)
	<-over
}

func change1(t *testing.T, s *worker.AttemptWorker, id nexus.AttemptID, base string) worker.TreeJudgeRequest {
	t.Helper()
	c, _ := change(t, s, id, base)
	return c
}

// TestAcceptedInTheLastMinute lets a task's time run out while the reviewer
// reads: what it accepted is accepted.
func TestAcceptedInTheLastMinute(t *testing.T) {
	s, base, _ := workertest.NewTestWorker(t)
	c, commit := change(t, s, "T1.1", base)
	const id = "T1.1/coder.1"
	a := &state.AttemptState{
		ID: "T1.1", Task: "T1", Base: base, Snapshot: nexus.TreeSnapshotted{Attempt: "T1.1", Commit: commit, Tree: c.Hash},
		Sessions: []*state.AgentSessionState{{SessionStarted: nexus.SessionStarted{Session: id}, Over: true, Outcome: nexus.Accepted}},
		Rounds: []*state.AttemptRound{{
			RoundStarted: nexus.RoundStarted{Session: id}, Prompted: true, Verdict: &nexus.GatesVerdictGiven{Tree: c.Hash, State: nexus.Pass},
			Reviews: []nexus.ReviewerVerdictGiven{{Tree: c.Hash, Reviewed: true, Approved: true}},
		}},
	}
	v := state.WorkerView{Run: "r", Attempt: a, Task: state.TaskState{Task: nexus.Task{ID: "T1"}}, Limits: nexus.Limits{TaskTime: time.Minute}}
	facts, err := attempt.RunAttempt(t.Context(), s, v, &desk{})
	if err != nil || len(facts) != 1 {
		t.Fatal(facts, err)
	}
	if f, ok := facts[0].(nexus.AttemptEnded); !ok || f.Outcome != nexus.Accepted || f.Commit != commit {
		t.Errorf("%+v", facts[0])
	}
}

// TestNoTestWritesWhatIsJudgedLater lets a gate that runs code of the tree
// write to all caches that it finds, and looks for it in the gates after it
// and in those of the next round.
func TestNoTestWritesWhatIsJudgedLater(t *testing.T) {
	clean := "test ! -e $GOCACHE/poison && test ! -e $GOLANGCI_LINT_CACHE/poison"
	poison := "for d in $GOCACHE $GOLANGCI_LINT_CACHE ../gates ../gates/own ../gates/go-build ../gates/lint/golangci; do echo x > $d/poison; done; exit 0"
	sh := func(name, format, line string) gate.QualityGate {
		return gate.QualityGate{Name: name, Args: []string{"sh", "-c", line}, Format: format}
	}
	gates := []gate.QualityGate{
		sh("before", outputparser.GoBuild, clean), sh("test", outputparser.Exit, clean+" && "+poison), sh("vet", outputparser.GoVet, clean),
		sh("lint", outputparser.GolangCI, clean+" && echo '{\"Issues\":[],\"Report\":{}}'"), sh("after", outputparser.Exit, clean),
	}
	s, base, _ := workertest.NewTestWorker(t, gates...)
	box, err := sandbox.FindSandbox(t.Context(), sandbox.ModeAuto)
	if err != nil {
		t.Fatal(err)
	}
	s.Site.Box = box
	c, _ := change(t, s, "T1.1", base)
	for round := range 2 {
		if err := os.WriteFile(filepath.Join(c.Tree.Dir, "more"), []byte{byte('a' + round)}, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, c.Hash, err = c.Tree.Snapshot(t.Context(), "more"); err != nil {
			t.Fatal(err)
		}
		evidence, err := s.Judge.RunGates(t.Context(), c, &desk{})
		if err != nil || len(evidence) != len(gates) {
			t.Fatalf("round %d: %+v, %v", round, evidence, err)
		}
		for _, e := range evidence {
			if e.State != nexus.Pass {
				t.Errorf("round %d, %s: %+v", round, e.Gate, e)
			}
		}
	}
	if left, err := filepath.Glob(filepath.Join(filepath.Dir(c.Tree.Dir), "once-*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
