package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree/overlay"
)

// TestFallbackLater writes the files one by one where an overlay could be mounted when it
// was tried, and cannot when a tree is made; where somebody asked for one, it is an error.
func TestFallbackLater(t *testing.T) {
	user := t.TempDir()
	gittest.RunGit(t, user, "init", "-q", "-b", "main")
	gittest.WriteFiles(t, user, map[string]string{"a": "a\n", "d/b": "b\n"})
	gittest.RunGit(t, user, "add", "-A")
	gittest.RunGit(t, user, "commit", "-q", "-m", "base")
	repo, err := git.FindRepo(t.Context(), user)
	if err != nil {
		t.Fatal(err)
	}
	s, err := OpenStore(t.Context(), repo, filepath.Join(t.TempDir(), "a,b:c")) // no path of an overlay
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.probing.Do(func() { s.probed = FillOverlay })
	base := gittest.RunGit(t, user, "rev-parse", "HEAD")
	tr, err := s.AddTree(t.Context(), "r", "T1.1", base)
	if err != nil || tr.Way != FillPlain {
		t.Fatalf("%+v, %v", tr, err)
	}
	if text, err := os.ReadFile(filepath.Join(tr.Dir, "d", "b")); err != nil || string(text) != "b\n" {
		t.Errorf("%q, %v", text, err)
	}
	if got := gittest.RunGit(t, tr.Dir, "status", "--short"); got != "" {
		t.Errorf("the agent's git says %q", got)
	}
	if commit, _, err := tr.Snapshot(t.Context(), "s"); err != nil || commit != base {
		t.Errorf("the snapshot is %s, %v", commit, err)
	}
	s.Way = FillOverlay
	if tr, err := s.AddTree(t.Context(), "r", "T1.2", base); !errors.Is(err, overlay.ErrNone) {
		t.Errorf("%+v, %v", tr, err)
	}
}
