package worktree_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree/overlay"
)

// TestARestoreThatCannotRemoveAFile says which, and does all of it once it can: nothing
// takes a file away that somebody mounted there.
func TestARestoreThatCannotRemoveAFile(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		user := userRepo(t, map[string]string{"a": "a\n"})
		s, base := open(t, user, way), head(t, user)
		tr := add(t, s, "T1.1", base)
		gittest.WriteFiles(t, tr.Dir, map[string]string{"d/b": "b\n"})
		commit, _ := snap(t, s, tr)
		name := filepath.Join(tr.Dir, "d", "b")
		if err := syscall.Mount(name, name, "", syscall.MS_BIND, ""); err != nil {
			testenv.NeedMachine(t, "a mount", err)
		}
		if err := tr.Restore(t.Context(), base); err == nil || !errors.Is(err, syscall.EBUSY) {
			t.Errorf("%v", err)
		}
		if last, _ := tr.LastSnapshot(); last != commit {
			t.Errorf("the last snapshot is %s, want %s", last, commit)
		}
		if err := syscall.Unmount(name, 0); err != nil {
			t.Fatal(err)
		}
		if err := tr.Restore(t.Context(), base); err != nil {
			t.Fatal(err)
		}
		if _, files := snap(t, s, tr); files != "a" {
			t.Errorf("afterwards the tree holds %q", files)
		}
	})
}

// TestAPipeInThePlaceOfAFile goes with a restore, also to a commit that has nothing there.
func TestAPipeInThePlaceOfAFile(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		user := userRepo(t, map[string]string{"a": "a\n", "p": "p\n", "d/p": "p\n"})
		s := open(t, user, way)
		tr := add(t, s, "T1.1", head(t, user))
		names := []string{filepath.Join(tr.Dir, "p"), filepath.Join(tr.Dir, "d", "p")}
		for _, name := range names {
			if err := os.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
		without, files := snap(t, s, tr)
		if files != "a" {
			t.Fatalf("without them there are %q", files)
		}
		if err := tr.Restore(t.Context(), head(t, user)); err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if err := errors.Join(os.Remove(name), syscall.Mkfifo(name, 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		gittest.WriteFiles(t, tr.Dir, map[string]string{"n/m": "new\n"})
		for _, name := range []string{filepath.Join(tr.Dir, "q"), filepath.Join(tr.Dir, "d", "q"), filepath.Join(tr.Dir, "n", "q")} {
			if err := syscall.Mkfifo(name, 0o600); err != nil {
				t.Fatal(err)
			}
			names = append(names, name)
		}
		if err := tr.Restore(t.Context(), without); err != nil {
			t.Fatal(err)
		}
		for _, name := range names {
			if info, err := os.Lstat(name); !os.IsNotExist(err) {
				t.Errorf("there is %v, %v", info.Mode(), err)
			}
		}
	})
}

// TestWhatGitIsGivenCannotBeWritten: where the list of what git is to store, or to write,
// cannot be made, that is said, and git is not blamed.
func TestWhatGitIsGivenCannotBeWritten(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		user := userRepo(t, map[string]string{"a": "a\n", ".gitattributes": "*.txt text\n"})
		s, base := open(t, user, way), head(t, user)
		tr := add(t, s, "T1.1", base)
		gittest.WriteFiles(t, tr.Dir, map[string]string{"x.txt": "x\n"})
		commit, _ := snap(t, s, tr)
		if err := tr.Restore(t.Context(), base); err != nil {
			t.Fatal(err)
		}
		mini := filepath.Join(filepath.Dir(tr.Dir), "mini")
		if err := os.Remove(mini); err != nil {
			t.Fatal(err)
		}
		gittest.WriteFiles(t, mini, map[string]string{"in": "the way\n"})
		if err := tr.Restore(t.Context(), commit); err == nil || !strings.Contains(err.Error(), mini) {
			t.Errorf("restore: %v", err)
		}
		gittest.WriteFiles(t, tr.Dir, map[string]string{"y.txt": "y\r\n"})
		if _, _, err := tr.Snapshot(t.Context(), "s"); err == nil || !strings.Contains(err.Error(), mini) {
			t.Errorf("snapshot: %v", err)
		}
		if err := os.RemoveAll(mini); err != nil {
			t.Fatal(err)
		}
		last, files := snap(t, s, tr)
		if got := gittest.RunGit(t, s.PrivateRepo().Dir, "cat-file", "-s", last+":y.txt"); files != ".gitattributes\na\ny.txt" || got != "2" {
			t.Errorf("afterwards the tree holds %q, and %s bytes of one", files, got)
		}
	})
}

// TestUnmountAsksNobodyForNothing: where nothing is mounted it does not matter who is gone.
func TestUnmountAsksNobodyForNothing(t *testing.T) {
	err := worktree.UnmountLeftovers(t.Context(), t.TempDir(), func(context.Context) ([]nexus.RunID, error) { return nil, errors.New("asked") })
	if err != nil {
		t.Error(err)
	}
}

// TestUnmountWhileTreesAreMade does nothing, and says nothing: it does not wait for long.
func TestUnmountWhileTreesAreMade(t *testing.T) {
	testenv.NeedMachine(t, "an overlay", overlay.ProbeOverlay(t.TempDir()))
	user, dir := userRepo(t, map[string]string{"a": "a\n"}), filepath.Join(t.TempDir(), "state")
	tr := add(t, openAt(t, user, dir, worktree.FillOverlay), "T1.1", head(t, user))
	asked := 0
	gone := func(context.Context) ([]nexus.RunID, error) { asked++; return []nexus.RunID{"r"}, t.Context().Err() }
	mounted := func() bool { return must[bool](t)(overlay.IsMounted(tr.Dir)) }
	err := filewrite.WithSharedLock(t.Context(), filepath.Join(dir, "trees.lock"), func(ctx context.Context) error { return worktree.UnmountLeftovers(ctx, dir, gone) })
	if err != nil || !mounted() || asked != 1 {
		t.Errorf("while trees are made: %v, mounted %v, asked %d times", err, mounted(), asked)
	}
	if err := worktree.UnmountLeftovers(t.Context(), dir, gone); err != nil || mounted() || asked != 3 {
		t.Errorf("afterwards: %v, mounted %v, asked %d times", err, mounted(), asked)
	}
}
