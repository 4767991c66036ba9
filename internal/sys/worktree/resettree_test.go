package worktree_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
)

func TestExact(t *testing.T) { ways(t, testExact) }

// testExact leaves all kinds of things in a tree that git does not track, and
// sees that none of them is there any more, and that nothing else is gone.
func testExact(t *testing.T, way worktree.TreeFillMethod) {
	t.Helper()
	ctx := t.Context()
	user := userRepo(t, map[string]string{"a.go": "a\n", "d/b.go": "b\n", ".gitignore": "out/\n*_gen.go\n"})
	gittest.WriteFiles(t, user, map[string]string{"out/kept": "tracked all the same\n"})
	gittest.RunGit(t, user, "add", "-f", "out/kept")
	gittest.RunGit(t, user, "commit", "-q", "-m", "more")
	s := open(t, user, way)
	tr := must[*worktree.AttemptTree](t)(s.AddTree(ctx, "run-1", "T1.1", gittest.RunGit(t, user, "rev-parse", "HEAD")))
	gittest.WriteFiles(t, tr.Dir, map[string]string{"c.go": "c\n", "d/b.go": "changed\n"})
	_, tree, err := tr.Snapshot(ctx, "work")
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		gittest.WriteFiles(t, tr.Dir, map[string]string{
			"a_gen.go": "g\n", "d/b_gen.go": "g\n", "out/x/y.go": "g\n", "new/.gitignore": "*\n", "new/z.go": "g\n",
			"in/.git/HEAD": "g\n", "d/.git": "g\n", ".git": "g\n", "stray": "not ignored\n", "a.go": "spoilt\n",
		})
		if err := os.MkdirAll(filepath.Join(tr.Dir, "e/f/g"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := tr.ResetExactly(ctx, tree); err != nil {
			t.Fatal(err)
		}
		var all []string
		err := filepath.WalkDir(tr.Dir, func(p string, _ os.DirEntry, err error) error {
			rel, _ := filepath.Rel(tr.Dir, p)
			all = append(all, rel)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		want := []string{".", ".git", ".gitignore", "a.go", "c.go", "d", "d/b.go", "out", "out/kept"}
		if !slices.Equal(all, want) {
			t.Errorf("left are %q, want %q", all, want)
		}
		if _, got, err := tr.Snapshot(ctx, "x"); err != nil || got != tree {
			t.Errorf("the tree is %s, want %s: %v", got, tree, err)
		}
	}
	if data, _ := os.ReadFile(filepath.Join(tr.Dir, ".git")); string(data) == "g\n" {
		t.Error("the agent's git is lost")
	}
}
