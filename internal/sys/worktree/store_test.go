package worktree_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree/overlay"
)

// userRepo makes a repository with one commit on branch main.
func userRepo(tb testing.TB, files map[string]string) string {
	tb.Helper()
	dir := tb.TempDir()
	gittest.RunGit(tb, dir, "init", "-q", "-b", "main")
	gittest.WriteFiles(tb, dir, files)
	gittest.RunGit(tb, dir, "add", "-A")
	gittest.RunGit(tb, dir, "commit", "-q", "--allow-empty", "-m", "base")
	return dir
}

// open opens a store on a user's repository.
func open(tb testing.TB, user string, way worktree.TreeFillMethod) *worktree.Store {
	tb.Helper()
	return openAt(tb, user, filepath.Join(tb.TempDir(), "state"), way)
}

// openAt opens a store in dir; in the end nothing of it is left mounted.
func openAt(tb testing.TB, user, dir string, way worktree.TreeFillMethod) *worktree.Store {
	tb.Helper()
	r, err := git.FindRepo(context.Background(), user)
	if err != nil {
		tb.Fatal(err)
	}
	s, err := worktree.OpenStore(context.Background(), r, dir)
	if err != nil {
		tb.Fatal(err)
	}
	s.Way = way
	tb.Cleanup(func() {
		if child := os.Getenv("NEXUS_FIFTY") != ""; child {
			s.Close()
			return
		}
		if _, err := s.RemoveTrees(context.Background(), none, false); err != nil {
			tb.Errorf("sweep: %v", err)
		}
		if err := s.Close(); err != nil {
			tb.Errorf("close: %v", err)
		}
	})
	return s
}

func none(nexus.RunID, nexus.AttemptID) bool { return false }

// ways runs a test with each way of making files that the machine has.
func ways(t *testing.T, test func(t *testing.T, way worktree.TreeFillMethod)) {
	t.Helper()
	t.Run("plain", func(t *testing.T) { test(t, worktree.FillPlain) })
	t.Run("overlay", func(t *testing.T) {
		testenv.NeedMachine(t, "an overlay", overlay.ProbeOverlay(t.TempDir()))
		test(t, worktree.FillOverlay)
	})
}

func must[T any](tb testing.TB) func(T, error) T {
	tb.Helper()
	return func(v T, err error) T {
		tb.Helper()
		if err != nil {
			tb.Fatal(err)
		}
		return v
	}
}

func TestLife(t *testing.T) { ways(t, testLife) }

func testLife(t *testing.T, way worktree.TreeFillMethod) {
	t.Helper()
	ctx := t.Context()
	user := userRepo(t, map[string]string{"a.txt": "a\n", "d/b.txt": "b\n", ".gitignore": "out/\n"})
	base := gittest.RunGit(t, user, "rev-parse", "HEAD")
	s := open(t, user, way)
	tr := must[*worktree.AttemptTree](t)(s.AddTree(ctx, "run-1", "T1.1", base))
	gittest.WriteFiles(t, tr.Dir, map[string]string{"a.txt": "changed\n", "new/c.txt": "c\n", "out/o": "ignored"})
	os.Remove(filepath.Join(tr.Dir, "d/b.txt"))
	c1, tree1, err := tr.Snapshot(ctx, "one")
	if err != nil {
		t.Fatal(err)
	}
	if got := gittest.RunGit(t, s.PrivateRepo().Dir, "ls-tree", "-r", "--name-only", c1); got != ".gitignore\na.txt\nnew/c.txt" {
		t.Errorf("the snapshot holds %q", got)
	}
	again, tree2, err := tr.Snapshot(ctx, "two")
	if err != nil || again != c1 || tree2 != tree1 {
		t.Errorf("nothing changed, but the snapshot is %s, %v", again, err)
	}
	if err := tr.Restore(ctx, base); err != nil {
		t.Fatal(err)
	}
	if _, got, _ := tr.Snapshot(ctx, "x"); got != gittest.RunGit(t, user, "rev-parse", "HEAD^{tree}") {
		t.Errorf("restored %s", got)
	}
	if _, err := os.Stat(filepath.Join(tr.Dir, "out/o")); err != nil {
		t.Error(err)
	}
	if err := tr.Remove(ctx); err != nil {
		t.Fatal(err)
	}
	m := must[worktree.MergeResult](t)(s.Merge(ctx, base, c1, base))
	if m.Tree != tree1 || m.Conflicts != nil {
		t.Errorf("merged %+v", m)
	}
	if err := s.PublishBranch(ctx, "nexus/run-1", c1); err != nil {
		t.Fatal(err)
	}
	if err := s.LandOnUserBranch(ctx, "main", c1, base); err != nil {
		t.Fatal(err)
	}
	if got := gittest.RunGit(t, user, "status", "--porcelain"); got != "" {
		t.Errorf("after landing, status says %q", got)
	}
}

// TestUnmount leaves a mount behind as a killed process does: it goes once its
// run is certain to be gone, while those of others stay, and the tree comes back
// as it was.
func TestUnmount(t *testing.T) {
	testenv.NeedMachine(t, "an overlay", overlay.ProbeOverlay(t.TempDir()))
	user := userRepo(t, map[string]string{"a.txt": "a\n"})
	dir := filepath.Join(t.TempDir(), "state")
	s := openAt(t, user, dir, worktree.FillOverlay)
	head := gittest.RunGit(t, user, "rev-parse", "HEAD")
	for _, run := range []nexus.RunID{"dead", "live"} {
		tree, err := s.AddTree(t.Context(), run, "T1.1", head)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(tree.Dir, "b.txt"), []byte("b\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	left := func(gone ...nexus.RunID) int {
		t.Helper()
		if err := worktree.UnmountLeftovers(t.Context(), dir, func(context.Context) ([]nexus.RunID, error) { return gone, nil }); err != nil {
			t.Fatal(err)
		}
		all, err := overlay.MountsBelow(dir)
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	unknown := errors.New("nobody can say who is gone")
	if err := worktree.UnmountLeftovers(t.Context(), dir, func(context.Context) ([]nexus.RunID, error) { return []nexus.RunID{"dead"}, unknown }); !errors.Is(err, unknown) {
		t.Errorf("while nobody can say who is gone: %v", err)
	}
	if n := left("other"); n != 2 {
		t.Fatalf("%d of 2 are mounted while nobody is gone", n)
	}
	if n := left("other", "dead"); n != 1 {
		t.Errorf("%d are mounted after one is gone", n)
	}
	tree, err := openAt(t, user, dir, worktree.FillOverlay).AddTree(t.Context(), "dead", "T1.1", head)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(filepath.Join(tree.Dir, "b.txt")); err != nil || string(text) != "b\n" {
		t.Errorf("%q, %v", text, err)
	}
	if err := worktree.UnmountLeftovers(t.Context(), filepath.Join(dir, "none"), nil); err != nil {
		t.Error(err)
	}
}
