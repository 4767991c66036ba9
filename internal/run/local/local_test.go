package local_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run/local"
	"github.com/nexus-ai-builder/nexus/internal/sys/blob"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/attempt"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// desk has heard of nothing.
type desk struct{}

func (desk) Record(context.Context, ...nexus.Fact) error { return nil }
func (desk) Reserve(context.Context, nexus.BudgetReserved) ([]state.Guidance, error) {
	return nil, nil
}
func (desk) Ask(context.Context, nexus.QuestionAsked) (string, error) { return "", nil }
func (desk) Known(context.Context, string, string) (nexus.Evidence, bool) {
	return nexus.Evidence{}, false
}

func (desk) Spare(ctx context.Context, _ bool) (context.Context, context.CancelFunc) {
	return ctx, func() {}
}

// shop returns a shop over a repository with one file, and its commit.
func shop(t *testing.T, gates ...gate.Gate) (*attempt.Shop, string) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "bad"), []byte("bad\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
			"GIT_AUTHOR_NAME=User", "GIT_AUTHOR_EMAIL=user@example.org", "GIT_COMMITTER_NAME=User", "GIT_COMMITTER_EMAIL=user@example.org")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("init", "-q")
	run("add", ".")
	run("commit", "-q", "-m", "base")
	repo, err := git.Find(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	at := t.TempDir()
	trees, err := worktree.Open(t.Context(), repo, at)
	if err != nil {
		t.Fatal(err)
	}
	blobs, err := blob.Open(filepath.Join(at, "blobs"))
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.Find(t.Context(), sandbox.Off)
	if err != nil {
		t.Fatal(err)
	}
	s := &attempt.Shop{
		Run: "r", Trees: trees, Blobs: blobs, Box: box, Now: time.Now, Bases: &attempt.Bases{}, State: at,
		Gates: func(string) ([]gate.Gate, error) { return gates, nil }, Versions: &gate.Versions{},
	}
	t.Cleanup(func() {
		if err := s.Bases.Close(context.Background()); err != nil {
			t.Error(err)
		}
		if err := trees.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, run("rev-parse", "HEAD")
}

// TestReviewJudgesTheTip finds the worktree of a review that was cut off,
// with what a gate wrote in it.
func TestReviewJudgesTheTip(t *testing.T) {
	s, base := shop(t, gate.Gate{Name: "test", Args: []string{"sh", "-c", "test ! -e dirt"}})
	left, err := s.Trees.Add(t.Context(), "r", "result", base)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(left.Dir, "dirt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	w := &local.World{Shop: s}
	v := state.View{Run: "r", Tip: base, Goal: nexus.GoalAccepted{Base: base}}
	facts, err := w.Act(t.Context(), nexus.ResultReviewed{}, v, desk{})
	if err != nil || len(facts) != 1 {
		t.Fatal(facts, err)
	}
	if f, ok := facts[0].(nexus.ResultGated); !ok || !f.Verdict.Passed {
		t.Errorf("%+v", facts[0])
	}
}
