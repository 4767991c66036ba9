package checkcmd

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
)

// hashTree returns the hash of what the working tree holds.
func hashTree(ctx context.Context, dir string) string {
	l := snapshotTree(ctx, dir)
	defer l.close()
	return l.hash
}

func TestTree(t *testing.T) {
	dir := t.TempDir()
	if got := hashTree(t.Context(), dir); got != workingTree {
		t.Errorf("no repository: %s", got)
	}
	gittest.RunGit(t, dir, "init", "-q")
	gittest.WriteFiles(t, dir, map[string]string{"a.txt": "a\n", "b.txt": "b\n", ".gitignore": "x\n"})
	if got := hashTree(t.Context(), dir); got != workingTree {
		t.Errorf("no commit: %s", got)
	}
	old := time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC) // git believes its index about files that are older
	if err := os.Chtimes(filepath.Join(dir, "a.txt"), old, old); err != nil {
		t.Fatal(err)
	}
	gittest.RunGit(t, dir, "add", ".")
	gittest.RunGit(t, dir, "commit", "-q", "-m", "base")
	base := strings.TrimSpace(gittest.RunGit(t, dir, "rev-parse", "HEAD^{tree}"))
	if got := hashTree(t.Context(), dir); got != base {
		t.Errorf("as committed: %s, want %s", got, base)
	}
	gittest.WriteFiles(t, dir, map[string]string{"x": "ignored\n"})
	if got := hashTree(t.Context(), dir); got != base {
		t.Errorf("with what is ignored: %s, want %s", got, base)
	}

	// What git was told not to look at is looked at, and what is staged is not
	// what lies there.
	gittest.RunGit(t, dir, "update-index", "--assume-unchanged", "a.txt")
	gittest.WriteFiles(t, dir, map[string]string{"a.txt": "A\n", "b.txt": "staged\n", "new.txt": "new\n"})
	gittest.RunGit(t, dir, "add", "b.txt")
	gittest.WriteFiles(t, dir, map[string]string{"b.txt": "b\n"})
	got := hashTree(t.Context(), dir)
	gittest.RunGit(t, dir, "update-index", "--no-assume-unchanged", "a.txt")
	if again := hashTree(t.Context(), dir); again != got {
		t.Errorf("told not to look: %s, and %s when not", got, again)
	}
	before := gittest.RunGit(t, dir, "status", "--short")
	gittest.RunGit(t, dir, "add", ".")
	if want := strings.TrimSpace(gittest.RunGit(t, dir, "write-tree")); got != want {
		t.Errorf("with changes: %s, want %s; %s", got, want, before)
	}
}

func TestSettle(t *testing.T) {
	dir := t.TempDir()
	gittest.RunGit(t, dir, "init", "-q")
	gittest.WriteFiles(t, dir, map[string]string{"a.txt": "a\n"})
	gittest.RunGit(t, dir, "add", ".")
	gittest.RunGit(t, dir, "commit", "-q", "-m", "base")
	looked := snapshotTree(t.Context(), dir)
	defer looked.close()
	begun := looked.hash
	settle := func(l treeSnapshot) (string, []nexus.GateEvidence) {
		all := []nexus.GateEvidence{{Gate: "build", Tree: begun}, {Gate: "tamper", Tree: workingTree}, {Gate: "other", Tree: "t"}}
		return setJudgedTree(t.Context(), l, dir, treeAtStart(all), all), all
	}
	if looked.stored == nil {
		t.Error("the stored tree is not kept")
	}
	for name, l := range map[string]treeSnapshot{"as kept": looked, "nothing kept": {hash: begun}} {
		gittest.WriteFiles(t, dir, map[string]string{"a.txt": "a\n"})
		if got, all := settle(l); got != begun || all[1].Tree != begun || all[2].Tree != "t" {
			t.Errorf("%s: %s: %v", name, got, all)
		}
		for _, change := range []map[string]string{{"a.txt": "b\n"}, {"a.txt": "a\n", "new.txt": ""}} {
			gittest.WriteFiles(t, dir, change)
			if got, all := settle(l); got != "" || all[0].Tree != workingTree || all[1].Tree != workingTree {
				t.Errorf("%s, with %v: %q: %v", name, change, got, all)
			}
		}
		if err := os.Remove(filepath.Join(dir, "new.txt")); err != nil {
			t.Fatal(err)
		}
	}
}
