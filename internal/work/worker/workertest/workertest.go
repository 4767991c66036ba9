// Package workertest makes workers for tests.
package workertest

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// NewTestWorker returns a worker without a sandbox, for a user's repository with one
// file, named bad, and the user's commit of it. The worker ends with the test.
func NewTestWorker(tb testing.TB, gates ...gate.QualityGate) (s *worker.AttemptWorker, base string, user git.Repo) {
	tb.Helper()
	fine := func(err error) {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
	}
	dir, at := tb.TempDir(), tb.TempDir()
	gittest.WriteFiles(tb, dir, map[string]string{"bad": "bad\n"})
	gittest.RunGit(tb, dir, "init", "-q")
	gittest.RunGit(tb, dir, "add", ".")
	gittest.RunGit(tb, dir, "commit", "-q", "-m", "base")
	user, err := git.FindRepo(tb.Context(), dir)
	fine(err)
	trees, err := worktree.OpenStore(tb.Context(), user, at)
	fine(err)
	blobs, err := journal.OpenBlobStore(filepath.Join(at, "blobs"))
	fine(err)
	box, err := sandbox.FindSandbox(tb.Context(), sandbox.ModeOff)
	fine(err)
	s = worker.NewAttemptWorker(
		worker.RunEnvironment{Run: "r", Blobs: blobs, Box: box, Now: time.Now, State: at}, //nolint:forbidigo // as the program wires it
		trees,
		worker.TreeJudge{Gates: func(string) ([]gate.QualityGate, error) { return gates, nil }, Bases: &worker.BaseCommitJudge{}, Versions: &gate.ToolVersionCache{}},
		worker.AgentSessions{},
	)
	tb.Cleanup(func() {
		if err := s.Judge.Bases.Close(context.Background()); err != nil {
			tb.Error(err)
		}
		if err := trees.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s, gittest.RunGit(tb, dir, "rev-parse", "HEAD"), user
}

// CommitFiles returns a commit that adds files to those of another commit, in the form of an
// attempt in a worker's run r, and its tree.
func CommitFiles(tb testing.TB, s *worker.AttemptWorker, id nexus.AttemptID, from string, files map[string]string) (commit, tree string) {
	tb.Helper()
	w, err := s.Trees.AddTree(tb.Context(), "r", id, from)
	if err != nil {
		tb.Fatal(err)
	}
	gittest.WriteFiles(tb, w.Dir, files)
	if commit, tree, err = w.Snapshot(tb.Context(), "work"); err != nil {
		tb.Fatal(err)
	}
	return commit, tree
}
