package worktree

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
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
	k := &known{}
	tree := survey{Dir: dir, Ignored: tools}
	look(t, tree, k, 1) // before anything is spared
	if err := Spare(dir, []string{"node_modules", "tools/node_modules", "web/node_modules"}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"a.js", "node_modules2/y", "web/b.js"}, look(t, tree, k, 1).Changed); d != "" {
		t.Error(d)
	}
	if err := tree.strip(k); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"node_modules/.git/config": true, "node_modules/empty": true, "tools/node_modules/z": true, "web/node_modules/w": true, "tools/made": false} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != want {
			t.Errorf("%s is there: %v", name, err == nil)
		}
	}
	if err := Spare(dir, nil); err != nil {
		t.Fatal(err)
	}
	if n := len(look(t, tree, k, 1).Changed); n != 5 {
		t.Error(n, "files, with what is not spared any more")
	}
}
