package worktree

import (
	"os"
	"path/filepath"
	"testing"
)

// TestStripLooksFurther than a file that is another repository's .git, or is spared: what is
// beside it goes as it does elsewhere.
func TestStripLooksFurther(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tree")
	for _, name := range []string{"a/.git", "b/.git/config", "c/lent", "c/lent.not/.git", "d/kept"} {
		write(t, filepath.Join(dir, name))
	}
	for _, name := range []string{"a/z/empty", "b/z/empty", "c/z/empty", "d/z/empty"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := SetExternalPaths(dir, []string{"c/lent"}); err != nil {
		t.Fatal(err)
	}
	k, tree := &treeScanCache{}, treeChangeFinder{Dir: dir, Ignored: nothing}
	look(t, tree, k, 1)
	if err := tree.removeUntracked(k); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"a": false, "b": false, "c/lent": true, "c/lent.not": false, "c/z": false, "d/kept": true, "d/z": false} {
		if _, err := os.Lstat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s is there: %v", name, err == nil)
		}
	}
}
