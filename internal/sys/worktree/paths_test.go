package worktree_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
)

// TestRestoreOfWhatIsNotThere says so where git cannot tell what to restore,
// and leaves the files as they are.
func TestRestoreOfWhatIsNotThere(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		ctx := t.Context()
		user := userRepo(t, map[string]string{"a.txt": "a\n"})
		base := gittest.RunGit(t, user, "rev-parse", "HEAD")
		s := open(t, user, way)
		tr := must[*worktree.AttemptTree](t)(s.AddTree(ctx, "run-1", "T1.1", base))
		gittest.WriteFiles(t, tr.Dir, map[string]string{"d/b.txt": "b\n"})
		c1, _, err := tr.Snapshot(ctx, "one")
		if err != nil {
			t.Fatal(err)
		}
		if err := tr.Restore(ctx, base); err != nil {
			t.Fatal(err)
		}
		below := gittest.RunGit(t, s.PrivateRepo().Dir, "rev-parse", c1+":d")
		if err := os.Remove(filepath.Join(s.PrivateRepo().Dir, "objects", below[:2], below[2:])); err != nil {
			t.Fatal(err)
		}
		for _, rev := range []string{c1, strings.Repeat("1", len(c1))} {
			if err := tr.Restore(ctx, rev); err == nil {
				t.Errorf("%s was restored", rev)
			}
		}
		if text, err := os.ReadFile(filepath.Join(tr.Dir, "a.txt")); err != nil || string(text) != "a\n" {
			t.Errorf("what was there is %q, %v", text, err)
		}
	})
}

// TestSnapshotOfPaths keeps what a look at the whole tree keeps, whatever the
