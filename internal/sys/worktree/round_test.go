package worktree_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
)

// TestRoundsAreNamed gives the result of each round a ref, also the one whose
// process was killed over it, and keeps them when the files go.
func TestRoundsAreNamed(t *testing.T) {
	user := userRepo(t, map[string]string{"a": "a\n"})
	s := open(t, user, worktree.FillAny)
	tr := add(t, s, "T1.1", head(t, user))
	want := map[int]string{}
	for n := 1; n <= 2; n++ {
		gittest.WriteFiles(t, tr.Dir, map[string]string{"n": strings.Repeat("n\n", n)})
		want[n], _ = snap(t, s, tr)
		lock := filepath.Join(s.PrivateRepo().Dir, worktree.RoundRef("r", "T1.1", n)+".lock")
		if err := os.WriteFile(lock, []byte("torn"), 0o600); err != nil {
			t.Fatal(err)
		}
		for _, commit := range []string{tr.Base, want[n], want[n]} { // a round that continues comes to something else
			if err := tr.MarkRound(n, commit); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := tr.Remove(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := s.RemoveTrees(t.Context(), func(nexus.RunID, nexus.AttemptID) bool { return false }, false); err != nil {
		t.Fatal(err)
	}
	for n, commit := range want {
		if got := gittest.RunGit(t, s.PrivateRepo().Dir, "rev-parse", worktree.RoundRef("r", "T1.1", n)); got != commit {
			t.Errorf("round %d is %s, want %s", n, got, commit)
		}
	}
}
