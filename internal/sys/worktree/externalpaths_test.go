package worktree

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// TestSpare neither keeps nor strips what was put there for the tree, while
// all else that is ignored goes.
func TestSpare(t *testing.T) {
	home := t.TempDir()
	dir := filepath.Join(home, "tree")
	for _, name := range []string{"a.js", "node_modules/x/index.js", "node_modules/.git/config", "node_modules2/y", "tools/node_modules/z", "tools/made", "web/node_modules/w", "web/b.js"} {
		write(t, filepath.Join(dir, name))
	}
	if err := os.Mkdir(filepath.Join(dir, "node_modules/empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	tools := func(_ context.Context, paths []string) (map[string]bool, error) {
		out := map[string]bool{}
		for _, p := range paths {
			out[p] = p == "tools"
		}
		return out, nil
	}
	k := &treeScanCache{}
	tree := treeChangeFinder{Dir: dir, Ignored: tools}
	look(t, tree, k, 1) // before anything is spared
	if err := SetExternalPaths(dir, []string{"node_modules", "tools/node_modules", "web/node_modules"}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"a.js", "node_modules2/y", "web/b.js"}, look(t, tree, k, 1).Changed); d != "" {
		t.Error(d)
	}
	if err := tree.removeUntracked(k); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"node_modules/.git/config": true, "node_modules/empty": true, "tools/node_modules/z": true, "web/node_modules/w": true, "tools/made": false} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s is there: %v", name, err == nil)
		}
	}
	if err := SetExternalPaths(dir, nil); err != nil {
		t.Fatal(err)
	}
	if n := len(look(t, tree, k, 1).Changed); n != 5 {
		t.Error(n, "files, with what is not spared any more")
	}
}

// TestStripLeavesTheTree itself, its .git, links and the place of another
// repository's commit, where nothing else is in it.
func TestStripLeavesTheTree(t *testing.T) {
	for _, own := range []bool{true, false} {
		dir := filepath.Join(t.TempDir(), "tree")
		for _, name := range []string{"empty/within", "mod", "no"} {
			if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
				t.Fatal(err)
			}
		}
		if own {
			write(t, filepath.Join(dir, ".git/config"))
		}
		if err := os.Symlink("nowhere", filepath.Join(dir, "link")); err != nil {
			t.Fatal(err)
		}
		tree := treeChangeFinder{Dir: dir, Base: git.Index{{Path: "mod", Mode: git.ModeGitlink}, {Path: "no", Mode: git.ModeTree}}}
		if err := tree.removeUntracked(&treeScanCache{}); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]bool{".": true, ".git/config": own, "mod": true, "link": true, "empty": false, "no": false} {
			if _, err := os.Lstat(filepath.Join(dir, name)); (err == nil) != want {
				t.Errorf("with .git %v: %s is there: %v", own, name, err == nil)
			}
		}
		for _, name := range []string{"mod", "link"} {
			if err := os.Remove(filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		if err := tree.removeUntracked(&treeScanCache{}); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(dir); err != nil {
			t.Error("a tree that is empty is gone", err)
		}
		if err := errors.Join(os.Mkdir(filepath.Join(dir, "mod"), 0o755), os.Mkdir(filepath.Join(dir, "later"), 0o755)); err != nil {
			t.Fatal(err)
		}
		since := treeScanCache{Recent: map[string]knownFileState{"mod": {}, "later": {Mode: git.ModeGitlink}}} // the base is out of date
		if err := tree.removeUntracked(&since); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string]bool{"mod": false, "later": true} {
			if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
				t.Errorf("%s is there: %v", name, err == nil)
			}
		}
	}
}

// TestSharedFilesThatAreGone are no files that nothing is known of.
func TestSharedFilesThatAreGone(t *testing.T) {
	s := &overlayBaseCheckouts{Dir: t.TempDir(), Size: 20}
	for _, text := range []string{"", "boot", "boot soon"} {
		ready := s.checkoutPath("1234", "ready")
		if text != "" {
			if err := os.MkdirAll(filepath.Dir(ready), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(ready, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if g, err := s.ReadState("1234"); err == nil || !strings.Contains(err.Error(), "read the shared files") {
			t.Errorf("%q: %+v, %v", text, g, err)
		}
	}
}
