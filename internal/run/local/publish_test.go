package local_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run/local"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/worker/workertest"
)

// TestWhatIsNotMoved publishes what landed and leaves the user's branch where it
// is, with the reason, unless all is as it should be.
func TestWhatIsNotMoved(t *testing.T) {
	for name, c := range map[string]struct {
		change func(m *local.LocalExecutor, v *state.WorkerView)
		why    string // why the target stays; empty: it is moved
		branch string
		keeps  bool // nobody asked for the target to move
	}{
		"all is well":            {func(*local.LocalExecutor, *state.WorkerView) {}, "", "nexus/r", false},
		"another branch":         {func(m *local.LocalExecutor, _ *state.WorkerView) { m.Branch = "nexus/mine" }, "", "nexus/mine", false},
		"nobody asked":           {func(_ *local.LocalExecutor, v *state.WorkerView) { v.Goal.Land = false }, "", "nexus/r", true},
		"the tree does not pass": {func(_ *local.LocalExecutor, v *state.WorkerView) { v.Passed = false }, "the final tree does not pass", "nexus/r", false},
		"no branch":              {func(_ *local.LocalExecutor, v *state.WorkerView) { v.Goal.Target = "" }, "no branch was checked out", "nexus/r", false},
		"it cannot be merged":    {func(_ *local.LocalExecutor, v *state.WorkerView) { v.TargetMerge.Refused = "they conflict" }, "it has new commits, and they conflict", "nexus/r", false},
		"it is protected":        {func(m *local.LocalExecutor, _ *state.WorkerView) { m.Shields = []string{"*"} }, "git.protected names it", "nexus/r", false},
		"it is not there":        {func(_ *local.LocalExecutor, v *state.WorkerView) { v.Goal.Target = "gone" }, "gone was not moved: ", "nexus/r", false},
	} {
		t.Run(name, func(t *testing.T) {
			s, base, user := workertest.NewTestWorker(t)
			_, target, err := user.Head(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			tree, err := s.Trees.PrivateRepo().TreeID(t.Context(), base)
			if err != nil {
				t.Fatal(err)
			}
			tip, err := s.Trees.Commit(t.Context(), tree, []string{base}, "landed", time.Now())
			if err != nil {
				t.Fatal(err)
			}
			m := &local.LocalExecutor{Worker: s}
			v := state.WorkerView{Run: "r", Tip: tip, Passed: true, Goal: nexus.GoalAccepted{Base: base, Target: target, Land: true}}
			c.change(m, &v)
			facts, err := m.ExecuteIntent(t.Context(), nexus.ResultPublishingStarted{Commit: tip}, v, desk{})
			if err != nil || len(facts) != 1 {
				t.Fatal(facts, err)
			}
			f, ok := facts[0].(nexus.ResultPublished)
			if !ok || f.Branch != c.branch || f.Commit != tip || !strings.Contains(f.Why, c.why) || (f.Why == "") != (c.why == "") {
				t.Errorf("%+v", facts[0])
			}
			if at := first(t, user, c.branch); at != tip {
				t.Errorf("%s is at %s", c.branch, at)
			}
			moved := c.why == "" && !c.keeps
			if at := first(t, user, target); (at == tip) != moved || (f.Target != "") != moved {
				t.Errorf("%s is at %s; told %q", target, at, f.Target)
			}
		})
	}
}

// TestATargetThatMoved is told where it is, and stays there. What was merged onto
// it is what it becomes.
func TestATargetThatMoved(t *testing.T) {
	s, base, user := workertest.NewTestWorker(t)
	_, target, err := user.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	tree, err := s.Trees.PrivateRepo().TreeID(t.Context(), base)
	if err != nil {
		t.Fatal(err)
	}
	commit := func(message string, parents ...string) string {
		t.Helper()
		made, err := s.Trees.Commit(t.Context(), tree, parents, message, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		return made
	}
	tip, theirs := commit("landed", base), commit("theirs", base)
	if err := s.Trees.LandOnUserBranch(t.Context(), target, theirs, base); err != nil {
		t.Fatal(err)
	}
	m := &local.LocalExecutor{Worker: s}
	v := state.WorkerView{Run: "r", Tip: tip, Passed: true, Goal: nexus.GoalAccepted{Base: base, Target: target, Land: true}}
	facts, err := m.ExecuteIntent(t.Context(), nexus.ResultPublishingStarted{Commit: tip}, v, desk{})
	if err != nil || len(facts) != 1 || facts[0] != nexus.Fact(nexus.TargetBranchMoved{Target: target, Commit: theirs}) || first(t, user, target) != theirs {
		t.Fatalf("%+v, %v", facts, err)
	}
	both := commit("merged", theirs, tip)
	v.TargetMerge.Merged = &nexus.TargetMergeCommitted{Commit: both, Onto: theirs}
	facts, err = m.ExecuteIntent(t.Context(), nexus.ResultPublishingStarted{Commit: tip}, v, desk{})
	if f, ok := facts[0].(nexus.ResultPublished); err != nil || !ok || f.Target != target || f.Merged != both || f.Commit != tip || first(t, user, target) != both {
		t.Errorf("%+v, %v", facts, err)
	}
}

// TestBegin makes the branch of a run once, at its base, and not again where
// something landed and it is gone.
func TestBegin(t *testing.T) {
	s, base, _ := workertest.NewTestWorker(t)
	v := state.WorkerView{Run: "r", Landings: 1, Goal: nexus.GoalAccepted{Base: base}}
	if err := local.CreateRunBranch(t.Context(), s.Trees, v); err == nil || !strings.Contains(err.Error(), "is gone, with 1 commits on it") {
		t.Errorf("what landed is gone: %v", err)
	}
	v.Landings = 0
	for range 2 {
		if err := local.CreateRunBranch(t.Context(), s.Trees, v); err != nil {
			t.Fatal(err)
		}
	}
	v.Run, v.Goal.Base = "other", strings.Repeat("1", len(base))
	if err := local.CreateRunBranch(t.Context(), s.Trees, v); err == nil {
		t.Error("a branch begins at what is not there")
	}
}

// TestReviewAsksForTheCriteria of what landed, once the gates pass: a command that
// fails keeps the result from passing.
func TestReviewAsksForTheCriteria(t *testing.T) {
	for name, c := range map[string]struct {
		file, check, why string
		tried            bool
	}{
		"all is well":            {"fine", "test -e fine", "", true},
		"a criterion is not met": {"fine", "test -e one", "gate accept: test -e one: ", true},
		"a gate is red":          {"red", "test -e red", "gate test: ", false},
	} {
		s, base, _ := workertest.NewTestWorker(t, gate.QualityGate{Name: "test", Args: []string{"sh", "-c", "test ! -e red"}})
		tip, _ := workertest.CommitFiles(t, s, "T1.1", base, map[string]string{c.file: "1\n"})
		task := nexus.Task{ID: "T1", Criteria: []nexus.Criterion{{Text: "it works", Check: c.check}}}
		v := state.WorkerView{Run: "r", Tip: tip, Goal: nexus.GoalAccepted{Base: base}, Tasks: []nexus.Task{task}, Landed: []nexus.Task{task}}
		facts, err := (&local.LocalExecutor{Worker: s}).ExecuteIntent(t.Context(), nexus.FinalGatesStarted{}, v, desk{})
		if err != nil || len(facts) != 1 {
			t.Fatal(name, facts, err)
		}
		f := facts[0].(nexus.FinalGatesJudged).Verdict
		if f.Passed != (c.why == "") || !strings.HasPrefix(f.Why, c.why) || (len(f.Evidence) == 2) != c.tried {
			t.Errorf("%s: %q, of %d gates", name, f.Why, len(f.Evidence))
		}
	}
}

// TestReviewSaysWhatFails names the gate that the last tree does not pass.
func TestReviewSaysWhatFails(t *testing.T) {
	s, base, _ := workertest.NewTestWorker(t, gate.QualityGate{Name: "test", Args: []string{"sh", "-c", "test ! -e bad"}})
	tree, err := s.Trees.AddTree(t.Context(), "r", "T1.1", base)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(tree.Dir, "bad"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tip, hash, err := tree.Snapshot(t.Context(), "bad")
	if err != nil {
		t.Fatal(err)
	}
	v := state.WorkerView{Run: "r", Tip: tip, Goal: nexus.GoalAccepted{Base: base}}
	facts, err := (&local.LocalExecutor{Worker: s}).ExecuteIntent(t.Context(), nexus.FinalGatesStarted{}, v, desk{})
	if err != nil || len(facts) != 1 {
		t.Fatal(facts, err)
	}
	f, ok := facts[0].(nexus.FinalGatesJudged)
	if !ok || f.Verdict.Passed || f.Verdict.Tree != hash || !strings.HasPrefix(f.Verdict.Why, "gate test: ") {
		t.Errorf("%+v", facts[0])
	}
	if _, err := (&local.LocalExecutor{Worker: s}).ExecuteIntent(t.Context(), nexus.RunResumed{}, v, desk{}); err == nil {
		t.Error("anything is acted on")
	}
	v.Tip = strings.Repeat("1", len(base))
	if _, err := (&local.LocalExecutor{Worker: s}).ExecuteIntent(t.Context(), nexus.FinalGatesStarted{}, v, desk{}); err == nil || errors.Is(err, &git.TargetMovedError{}) {
		t.Errorf("a tip that is not there was judged: %v", err)
	}
}
