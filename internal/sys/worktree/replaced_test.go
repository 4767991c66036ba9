package worktree_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree/overlay"
)

// TestWhatARestoreTakesAwayIsPinned before, also files that git may keep only as
// plain files.
func TestWhatARestoreTakesAwayIsPinned(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		user := userRepo(t, map[string]string{"a": "a\n", ".gitmodules": "# none\n"})
		s, base := open(t, user, way), head(t, user)
		tr := add(t, s, "T", base)
		gittest.WriteFiles(t, tr.Dir, map[string]string{".gitmodules": "# still none\n", "d/.gitattributes": "*.png binary\n", ".GIT/config": "x", "new": "n\n"})
		if err := os.Symlink("new", filepath.Join(tr.Dir, "link")); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink("new", filepath.Join(tr.Dir, "d/.gitmodules")); err != nil { // git keeps no such link
			t.Fatal(err)
		}
		if err := tr.Restore(t.Context(), base); err != nil {
			t.Fatal(err)
		}
		last, files := snap(t, s, tr)
		if files != ".gitmodules\na" {
			t.Errorf("restored it holds %q", files)
		}
		was := gittest.RunGit(t, s.PrivateRepo().Dir, "ls-tree", "-r", "--name-only", last+"^")
		if was != ".gitmodules\na\nd/.gitattributes\nlink\nnew" || gittest.RunGit(t, s.PrivateRepo().Dir, "show", last+"^:.gitmodules") != "# still none" {
			t.Errorf("pinned is %q", was)
		}
	})
}

// TestAClosedStoreLeavesNothingMounted, whoever made the tree.
func TestAClosedStoreLeavesNothingMounted(t *testing.T) {
	testenv.NeedMachine(t, "an overlay", overlay.ProbeOverlay(t.TempDir()))
	user, state := userRepo(t, map[string]string{"a": "a\n"}), filepath.Join(t.TempDir(), "state")
	for range 2 { // the second takes over the tree of the first
		s := openAt(t, user, state, worktree.FillOverlay)
		add(t, s, "T", head(t, user))
		if at, err := overlay.MountsBelow(state); err != nil || len(at) != 1 {
			t.Errorf("mounted are %q, %v", at, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		if at, err := overlay.MountsBelow(state); err != nil || len(at) != 0 {
			t.Errorf("still mounted are %q, %v", at, err)
		}
	}
}

// TestADirectoryInThePlaceOfAFile is seen, whether something is in it or not, and
// so is a file in the place of a directory.
func TestADirectoryInThePlaceOfAFile(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		user := userRepo(t, map[string]string{"a": "a\n", "b": "b\n", "d/e/f": "f\n", "stays": "s\n"})
		s, base := open(t, user, way), head(t, user)
		tr := add(t, s, "T", base)
		for _, name := range []string{"a", "b", "d/e"} {
			if err := os.RemoveAll(filepath.Join(tr.Dir, name)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Mkdir(filepath.Join(tr.Dir, "a"), 0o755); err != nil {
			t.Fatal(err)
		}
		gittest.WriteFiles(t, tr.Dir, map[string]string{"b/c/d": "d\n", "b/x": "x\n", "d/e": "e\n"})
		commit, files := snap(t, s, tr)
		if files != "b/c/d\nb/x\nd/e\nstays" {
			t.Errorf("the tree holds %q", files)
		}
		for rev, want := range map[string]string{base: "a\nb\nd/e/f\nstays", commit: "b/c/d\nb/x\nd/e\nstays"} {
			if err := tr.Restore(t.Context(), rev); err != nil {
				t.Fatal(err)
			}
			if _, files := snap(t, s, tr); files != want {
				t.Errorf("restored it holds %q, want %q", files, want)
			}
		}
	})
}
