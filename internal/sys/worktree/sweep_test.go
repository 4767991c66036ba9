package worktree_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree/overlay"
)

// TestSweepOfSharedFiles keeps the files that a tree is mounted over and the
// newest ones, and removes the others with the directories of runs that are empty.
// A dry sweep names the same and removes nothing.
func TestSweepOfSharedFiles(t *testing.T) {
	testenv.NeedMachine(t, "an overlay", overlay.ProbeOverlay(t.TempDir()))
	ctx := t.Context()
	user, state := userRepo(t, map[string]string{"a": "a\n"}), filepath.Join(t.TempDir(), "state")
	s := openAt(t, user, state, worktree.FillOverlay)
	add(t, s, "T1.1", head(t, user))
	used := must[[]string](t)(filepath.Glob(filepath.Join(state, "lower", "*")))
	if len(used) != 1 {
		t.Fatalf("the tree is mounted over %q", used)
	}
	old, newest, run := filepath.Join(state, "lower", "1111"), filepath.Join(state, "lower", "2222"), filepath.Join(state, "trees", "over")
	for dir, age := range map[string]time.Duration{old: time.Hour, newest: -time.Hour, run: 0} {
		if err := os.MkdirAll(filepath.Join(dir), 0o700); err != nil {
			t.Fatal(err)
		}
		at := time.Now().Add(-age)
		if err := os.Chtimes(dir, at, at); err != nil {
			t.Fatal(err)
		}
	}
	keep := func(nexus.RunID, nexus.AttemptID) bool { return true }
	for _, dry := range []bool{true, false} {
		gone := must[[]string](t)(s.RemoveTrees(ctx, keep, dry))
		if !slices.Contains(gone, old) || !slices.Contains(gone, run) || slices.Contains(gone, newest) || slices.Contains(gone, used[0]) ||
			slices.Contains(gone, filepath.Join(state, "trees", "r")) {
			t.Errorf("dry %v: it removes %q", dry, gone)
		}
		for _, dir := range []string{old, run} {
			if _, err := os.Stat(dir); (err == nil) != dry {
				t.Errorf("dry %v: %s: %v", dry, dir, err)
			}
		}
	}
	for _, dir := range []string{used[0], newest} {
		if _, err := os.Stat(dir); err != nil {
			t.Error(err)
		}
	}
}

// TestATreeThatIsNotThere says so, instead of leaving the files as they are.
func TestATreeThatIsNotThere(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		user := userRepo(t, map[string]string{"a": "a\n"})
		s := open(t, user, way)
		tr := add(t, s, "T1.1", head(t, user))
		for name, to := range map[string]func() error{
			"exact":   func() error { return tr.ResetExactly(t.Context(), "1234567890123456789012345678901234567890") },
			"reset":   func() error { return tr.Reset(t.Context(), "1234567890123456789012345678901234567890") },
			"restore": func() error { return tr.Restore(t.Context(), "1234567890123456789012345678901234567890") },
		} {
			if err := to(); err == nil {
				t.Errorf("%s: no error", name)
			}
		}
		gittest.WriteFiles(t, tr.Dir, map[string]string{"b": "b\n"})
		if _, files := snap(t, s, tr); files != "a\nb" {
			t.Errorf("the tree holds %q afterwards", files)
		}
	})
}

// TestFilesThatAreNear are shared where a few hundred of them differ, and made anew where more do.
func TestFilesThatAreNear(t *testing.T) {
	testenv.NeedMachine(t, "an overlay", overlay.ProbeOverlay(t.TempDir()))
	for differ, want := range map[int]int{1: 1, 500: 1, 501: 2} {
		user, state := userRepo(t, map[string]string{"a": "a\n"}), filepath.Join(t.TempDir(), "state")
		s := openAt(t, user, state, worktree.FillOverlay)
		add(t, s, "T1", head(t, user))
		files := map[string]string{}
		for i := range differ {
			files[fmt.Sprintf("d/%d", i)] = "new\n"
		}
		gittest.WriteFiles(t, user, files)
		gittest.RunGit(t, user, "add", "-A")
		gittest.RunGit(t, user, "commit", "-q", "-m", "next")
		tr := add(t, s, "T2", commitOf(t, s, head(t, user)))
		if got := must[[]string](t)(filepath.Glob(filepath.Join(state, "lower", "*"))); len(got) != want {
			t.Errorf("%d differ: %q", differ, got)
		}
		if got := must[[]os.DirEntry](t)(os.ReadDir(filepath.Join(tr.Dir, "d"))); len(got) != differ {
			t.Errorf("%d differ, and %d are there", differ, len(got))
		}
	}
}

// aged makes directories in a state directory, each an hour older than the one before.
func aged(t *testing.T, state string, names ...string) {
	t.Helper()
	for i, name := range names {
		dir, at := filepath.Join(state, name), time.Now().Add(-time.Duration(i)*time.Hour)
		if err := errors.Join(os.MkdirAll(dir, 0o700), os.Chtimes(dir, at, at)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestASweepThatCannotRemoveAll says so for each kind of what is left, and what is still there is
// not among what is gone.
func TestASweepThatCannotRemoveAll(t *testing.T) {
	for _, kind := range []string{"lower", "shown", "locks"} {
		user, state := userRepo(t, map[string]string{"a": "a\n"}), filepath.Join(t.TempDir(), "state")
		s := openAt(t, user, state, worktree.FillPlain)
		aged(t, state, kind+"/new", kind+"/old")
		gittest.WriteFiles(t, state, map[string]string{"trash": "in the way\n"})
		gone, err := s.RemoveTrees(t.Context(), none, false)
		if err == nil || !strings.Contains(err.Error(), filepath.Join(state, "trash")) || len(gone) > 0 {
			t.Errorf("%s: gone are %q: %v", kind, gone, err)
		}
		if err := os.Remove(filepath.Join(state, "trash")); err != nil {
			t.Fatal(err)
		}
		gone, err = s.RemoveTrees(t.Context(), none, false)
		if err != nil || !slices.Contains(gone, filepath.Join(state, kind, "old")) || slices.Contains(gone, filepath.Join(state, kind, "new")) != (kind == "locks") {
			t.Errorf("%s: gone are %q: %v", kind, gone, err)
		}
	}
}

// TestASweepThatCannotTell what a tree stands on removes nothing that it may be.
func TestASweepThatCannotTell(t *testing.T) {
	keep := func(nexus.RunID, nexus.AttemptID) bool { return true }
	for name, kind := range map[string]string{"tree.json": "lower", "git/objects/info/alternates": "shown"} {
		user, state := userRepo(t, map[string]string{"a": "a\n"}), filepath.Join(t.TempDir(), "state")
		s := openAt(t, user, state, worktree.FillPlain)
		tr := add(t, s, "T1.1", head(t, user))
		aged(t, state, kind+"/new", kind+"/old")
		at := filepath.Join(filepath.Dir(tr.Dir), name)
		if err := os.Rename(at, at+".away"); err != nil {
			t.Fatal(err)
		}
		gittest.WriteFiles(t, at, map[string]string{"in": "the way\n"})
		if gone, err := s.RemoveTrees(t.Context(), keep, false); err == nil || !strings.Contains(err.Error(), at) {
			t.Errorf("%s: gone are %q: %v", name, gone, err)
		}
		if _, err := os.Stat(filepath.Join(state, kind, "old")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := errors.Join(os.RemoveAll(at), os.Rename(at+".away", at)); err != nil {
			t.Fatal(err)
		}
		if gone, err := s.RemoveTrees(t.Context(), keep, false); err != nil || !slices.Contains(gone, filepath.Join(state, kind, "old")) {
			t.Errorf("%s: gone are %q: %v", name, gone, err)
		}
	}
}

// TestABaseThatIsNotThere makes no tree, and leaves nothing behind.
func TestABaseThatIsNotThere(t *testing.T) {
	user, state := userRepo(t, map[string]string{"a": "a\n"}), filepath.Join(t.TempDir(), "state")
	s := openAt(t, user, state, worktree.FillPlain)
	for _, base := range []string{"nowhere", strings.Repeat("1", 40), ""} {
		if tr, err := s.AddTree(t.Context(), "r", "T1.1", base); err == nil {
			t.Errorf("%q: %+v", base, tr)
		}
		if left := must[[]string](t)(filepath.Glob(filepath.Join(state, "trees", "*", "*"))); len(left) > 0 {
			t.Errorf("%q: left are %q", base, left)
		}
	}
	add(t, s, "T1.1", head(t, user))
}
