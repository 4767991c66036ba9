package local_test

import (
	"context"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run/local"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/land"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
	"github.com/nexus-ai-builder/nexus/internal/work/worker/workertest"
)

// desk has heard of nothing.
type desk struct{}

func (desk) Record(context.Context, ...nexus.Fact) error { return nil }
func (desk) Reserve(context.Context, nexus.BudgetReserved, ...nexus.Fact) ([]state.Guidance, error) {
	return nil, nil
}
func (desk) Ask(context.Context, nexus.QuestionAsked) (string, error) { return "", nil }
func (desk) Known(context.Context, string, string) (nexus.GateEvidence, bool) {
	return nexus.GateEvidence{}, false
}

func (desk) Spare(ctx context.Context, _ bool) (context.Context, context.CancelFunc) {
	return ctx, func() {}
}

// TestCrashWhilePublishing loses the word of what was done to the user's
// branches, and half of the doing: the next process finds both as they should
// be, and a run that continues moves them on.
func TestCrashWhilePublishing(t *testing.T) {
	s, base, user := workertest.NewTestWorker(t)
	_, target, err := user.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	commit := func(name, parent string) string {
		t.Helper()
		tree, err := s.Trees.AddTree(t.Context(), "r", nexus.AttemptID(name), parent)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(tree.Dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		_, hash, err := tree.Snapshot(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		made, err := s.Trees.Commit(t.Context(), hash, []string{parent}, name, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	w := &local.LocalExecutor{Worker: s}
	var proofs []state.LandingEvidence
	for i, name := range []string{"one", "two"} {
		tip := commit(name, base)
		v := state.WorkerView{Run: "r", Tip: tip, Passed: true, Goal: nexus.GoalAccepted{Base: base, Target: target, Land: true}}
		if i > 0 { // the run was reopened, and landed more
			tip = commit(name, first(t, user, target))
			v.Tip = tip
		}
		v.Proofs = append(proofs, state.LandingEvidence{LandingCompleted: nexus.LandingCompleted{Task: nexus.TaskID(name), Attempt: nexus.AttemptID(name), Commit: tip, Tree: "t"}})
		proofs = v.Proofs
		if err := s.Trees.PublishBranch(t.Context(), "nexus/r", tip); err != nil { // a process died after this
			t.Fatal(err)
		}
		for range 2 { // and the next one before it could say what it did
			facts, err := w.ExecuteIntent(t.Context(), nexus.ResultPublishingStarted{Commit: tip}, v, desk{})
			if err != nil || len(facts) != 1 {
				t.Fatal(facts, err)
			}
			if f, ok := facts[0].(nexus.ResultPublished); !ok || f.Target != target || f.Why != "" || f.Commit != tip {
				t.Errorf("%+v", facts[0])
			}
			for _, branch := range []string{target, "nexus/r"} {
				if at := first(t, user, branch); at != tip {
					t.Errorf("%s is at %s, want %s", branch, at, tip)
				}
			}
		}
		if out, err := user.Run(t.Context(), "rev-list", "--count", "refs/notes/nexus"); err != nil || strings.TrimSpace(out) != strconv.Itoa(i+1) {
			t.Errorf("notes were written %s times, want %d, %v", out, i+1, err)
		}
		for _, p := range proofs {
			if out, err := user.Run(t.Context(), "notes", "--ref=nexus", "show", p.Commit); err != nil || strings.Count(out, "\n") != 1 || !strings.Contains(out, `"task":"`+string(p.Task)+`"`) {
				t.Errorf("the note of %s is %q, %v", p.Task, out, err)
			}
		}
		if out, err := user.Run(t.Context(), "status", "--porcelain"); err != nil || out != "" {
			t.Errorf("the checkout is not clean: %q, %v", out, err)
		}
	}
}

func first(t *testing.T, r git.Repo, branch string) string {
	t.Helper()
	at, err := r.Resolve(t.Context(), "refs/heads/"+branch)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// TestCrashAfterLanding finds a landing of which nobody heard: it is
// confirmed, and the worktree that it was made in goes.
func TestCrashAfterLanding(t *testing.T) {
	s, base, _ := workertest.NewTestWorker(t)
	a := &state.AttemptState{ID: "T1.1", Task: "T1", Base: base, Outcome: nexus.Accepted}
	m := &state.AttemptState{ID: state.MergerAttemptID(a.ID), Base: base}
	v := state.WorkerView{Run: "r", Tip: base, Goal: nexus.GoalAccepted{Base: base}, Task: state.TaskState{Task: nexus.Task{ID: "T1", Title: "One"}}, Attempt: a, Merge: m}
	if err := local.CreateRunBranch(t.Context(), s.Trees, v); err != nil {
		t.Fatal(err)
	}
	tree, err := s.Trees.AddTree(t.Context(), "r", m.ID, base)
	if err != nil {
		t.Fatal(err)
	}
	hash, err := s.Trees.PrivateRepo().TreeID(t.Context(), base)
	if err != nil {
		t.Fatal(err)
	}
	landed, err := s.Trees.Commit(t.Context(), hash, []string{base}, land.CommitMessage("r", v.Task.Task, a.ID, tool.DefaultWorkSubmission{}), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Trees.MoveRef(t.Context(), land.RunBranchRef("r"), landed, base); err != nil {
		t.Fatal(err)
	}
	facts, err := (&local.LocalExecutor{Worker: s}).ExecuteIntent(t.Context(), nexus.LandingStarted{Task: "T1", Attempt: a.ID, Onto: base}, v, desk{})
	if err != nil || len(facts) != 1 {
		t.Fatal(facts, err)
	}
	if f, ok := facts[0].(nexus.LandingCompleted); !ok || f.Commit != landed || f.Parent != base {
		t.Errorf("%+v", facts[0])
	}
	if _, err := os.Stat(tree.Dir); !os.IsNotExist(err) {
		t.Errorf("the worktree of the landing is still there: %v", err)
	}
}

// TestReviewJudgesTheTip finds the worktree of a review that was cut off,
// with what a gate wrote in it.
func TestReviewJudgesTheTip(t *testing.T) {
	s, base, _ := workertest.NewTestWorker(t, gate.QualityGate{Name: "test", Args: []string{"sh", "-c", "test ! -e dirt"}})
	left, err := s.Trees.AddTree(t.Context(), "r", "result", base)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(left.Dir, "dirt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w := &local.LocalExecutor{Worker: s}
	v := state.WorkerView{Run: "r", Tip: base, Goal: nexus.GoalAccepted{Base: base}}
	facts, err := w.ExecuteIntent(t.Context(), nexus.FinalGatesStarted{}, v, desk{})
	if err != nil || len(facts) != 1 {
		t.Fatal(facts, err)
	}
	if f, ok := facts[0].(nexus.FinalGatesJudged); !ok || !f.Verdict.Passed {
		t.Errorf("%+v", facts[0])
	}
}
