package tool

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
)

// TestProtectedFilesArePutBack holds that the guard puts back a protected file that git tracks though the
// agent made git ignore it, and that a change which could not be put back is put back by the next call.
func TestProtectedFilesArePutBack(t *testing.T) {
	user := t.TempDir()
	gittest.RunGit(t, user, "init", "-q", "-b", "main")
	gittest.WriteFiles(t, user, map[string]string{"a.txt": "a\n", ".vscode/tasks.json": "{}\n"})
	gittest.RunGit(t, user, "add", "-A")
	gittest.RunGit(t, user, "commit", "-qm", "first")
	repo, err := git.FindRepo(t.Context(), user)
	if err != nil {
		t.Fatal(err)
	}
	store, err := worktree.OpenStore(t.Context(), repo, filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	base := gittest.RunGit(t, user, "rev-parse", "HEAD")
	tree, err := store.AddTree(t.Context(), "r", nexus.AttemptID("T1.1"), base)
	if err != nil {
		t.Fatal(err)
	}
	guard := CommandWriteGuard{Tree: tree, Git: store.PrivateRepo(), Base: func() string { return base }, Rule: ProtectedFileReason, Now: time.Now, Undone: func([]string) {}}
	undo, err := guard.WatchProtected(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	content := func() string {
		data, err := os.ReadFile(filepath.Join(tree.Dir, ".vscode/tasks.json"))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}

	gittest.WriteFiles(t, tree.Dir, map[string]string{".gitignore": ".vscode/\n"})
	if files, err := undo(t.Context()); err != nil || len(files) != 0 {
		t.Fatal(files, err)
	}
	gittest.WriteFiles(t, tree.Dir, map[string]string{".vscode/tasks.json": "evil\n"})
	if files, err := undo(t.Context()); err != nil || !slices.Equal(files, []string{".vscode/tasks.json"}) || content() != "{}\n" {
		t.Errorf("an ignored one: %v, %v, %q", files, err, content())
	}

	gittest.WriteFiles(t, tree.Dir, map[string]string{".vscode/tasks.json": "evil\n"})
	if err := os.Symlink("x", filepath.Join(tree.Dir, ".gitmodules")); err != nil { // no snapshot holds such a link
		t.Fatal(err)
	}
	if files, err := undo(t.Context()); err == nil {
		t.Errorf("the link was taken: %v", files)
	}
	if err := os.Remove(filepath.Join(tree.Dir, ".gitmodules")); err != nil {
		t.Fatal(err)
	}
	if _, err := undo(t.Context()); err != nil || content() != "{}\n" {
		t.Errorf("after a failure: %v, %q", err, content())
	}
}
