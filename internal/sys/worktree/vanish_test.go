package worktree

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
)

// TestAFileThatVanishes is about a program that deletes its temporary files while
// a snapshot is made: what is gone when it is to be read is left out, and is no
// error. A file that is there and cannot be read is one.
func TestAFileThatVanishes(t *testing.T) {
	ctx, user := t.Context(), t.TempDir()
	gittest.RunGit(t, user, "init", "-q", "-b", "main")
	gittest.WriteFiles(t, user, map[string]string{"a": "a\n"})
	gittest.RunGit(t, user, "add", "-A")
	gittest.RunGit(t, user, "commit", "-q", "-m", "base")
	repo, err := git.FindRepo(ctx, user)
	if err != nil {
		t.Fatal(err)
	}
	s, err := OpenStore(ctx, repo, filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	s.Way = FillPlain
	defer s.Close()
	tr, err := s.AddTree(ctx, "r", "T1.1", gittest.RunGit(t, user, "rev-parse", "HEAD"))
	if err != nil {
		t.Fatal(err)
	}
	gittest.WriteFiles(t, tr.Dir, map[string]string{"b": "b\n"})
	files, err := tr.storeFiles(ctx, []string{"a", "b", "gone", "gone/too"})
	if err != nil || len(files) != 2 || files["b"].ID == "" {
		t.Errorf("stored %+v: %v", files, err)
	}
	if err := os.Mkdir(filepath.Join(tr.Dir, "d"), 0o700); err != nil {
		t.Fatal(err)
	}
	if files, err := tr.storeFiles(ctx, []string{"b", "d"}); err == nil {
		t.Errorf("a directory is stored as a file: %+v", files)
	}
}
