package worktree_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree/overlay"
)

// TestATreeThatCannotBeMountedIsNotEmpty: where the files that it is mounted over cannot be had, a
// snapshot is an error, and not one without files.
func TestATreeThatCannotBeMountedIsNotEmpty(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		if way != worktree.FillOverlay {
			return
		}
		user, state := userRepo(t, map[string]string{"a": "a\n"}), filepath.Join(t.TempDir(), "state")
		s, base := openAt(t, user, state, way), head(t, user)
		tr := add(t, s, "T1.1", base)
		gittest.WriteFiles(t, tr.Dir, map[string]string{"n": "new\n"})
		if err := overlay.Unmount(tr.Dir); err != nil {
			t.Fatal(err)
		}
		lower := filepath.Join(state, "lower")
		if err := os.Rename(lower, lower+".away"); err != nil {
			t.Fatal(err)
		}
		gittest.WriteFiles(t, state, map[string]string{"lower": "in the way\n"})
		if commit, _, err := tr.Snapshot(t.Context(), "s"); err == nil {
			t.Errorf("the snapshot is %q of %s", gittest.RunGit(t, s.PrivateRepo().Dir, "ls-tree", "-r", "--name-only", commit), commit)
		}
		if err := errors.Join(os.Remove(lower), os.Rename(lower+".away", lower)); err != nil {
			t.Fatal(err)
		}
		if _, files := snap(t, s, tr); files != "a\nn" {
			t.Errorf("afterwards the tree holds %q", files)
		}
	})
}

// TestASnapshotThatCannotBePinned is none, and no other process's snapshot is lost by it.
func TestASnapshotThatCannotBePinned(t *testing.T) {
	user := userRepo(t, map[string]string{"a": "a\n"})
	s, base := open(t, user, worktree.FillPlain), head(t, user)
	tr := add(t, s, "T1.1", base)
	gittest.WriteFiles(t, tr.Dir, map[string]string{"n": "new\n"})
	lock := filepath.Join(s.PrivateRepo().Dir, worktree.SnapshotRef("r", "T1.1")+".lock")
	gittest.WriteFiles(t, lock, map[string]string{"in": "the way\n"})
	_, _, err := tr.Snapshot(t.Context(), "s")
	if !errors.Is(err, &nexus.Error{Code: nexus.CodeTargetMoved}) {
		t.Errorf("%v", err)
	}
	if commit, _ := tr.LastSnapshot(); commit != base {
		t.Errorf("the last snapshot is %s, want %s", commit, base)
	}
	if err := os.RemoveAll(lock); err != nil {
		t.Fatal(err)
	}
	commit, files := snap(t, s, tr)
	if files != "a\nn" || gittest.RunGit(t, s.PrivateRepo().Dir, "rev-parse", commit+"^") != base {
		t.Errorf("afterwards the tree holds %q", files)
	}
}

// TestAttributesThatAskForTheImpossible leave files as they are, byte for byte, and programs programs.
func TestAttributesThatAskForTheImpossible(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		user := userRepo(t, map[string]string{"a": "a\n"})
		s, base := open(t, user, way), head(t, user)
		tr := add(t, s, "T1.1", base)
		gittest.WriteFiles(t, tr.Dir, map[string]string{
			".gitattributes": "*.txt working-tree-encoding=UTF-16\n", "bad.txt": "odd\r\n", "run.txt": "#!/bin/sh\n", `quo"te\.txt`: "q\n",
		})
		if err := os.Chmod(filepath.Join(tr.Dir, "run.txt"), 0o755); err != nil {
			t.Fatal(err)
		}
		commit, _ := snap(t, s, tr)
		for name, want := range map[string]string{"bad.txt": "100644 odd\r\n", "run.txt": "100755 #!/bin/sh\n", `quo"te\.txt`: "100644 q\n"} {
			mode, _, _ := strings.Cut(gittest.RunGit(t, s.PrivateRepo().Dir, "ls-tree", commit, "--", name), " ")
			_, data, err := s.Objects().ReadObject(t.Context(), gittest.RunGit(t, s.PrivateRepo().Dir, "rev-parse", commit+":"+name))
			if got := mode + " " + string(data); err != nil || got != want {
				t.Errorf("%s is kept as %q, want %q: %v", name, got, want, err)
			}
		}
	})
}

// TestAttributesOfAnEarlierProcess hold for the next one that takes the tree up: those that the base
// has, and those that came with a snapshot.
func TestAttributesOfAnEarlierProcess(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		for name, files := range map[string][2]map[string]string{
			"of the base":     {{"a": "a\n", ".gitattributes": "*.txt text\n"}, {"b": "b\n"}},
			"of a snapshot":   {{"a": "a\n"}, {".gitattributes": "*.txt text\n"}},
			"of neither dirs": {{"a": "a\n"}, {"d/.gitattributes": "*.txt text\n", ".gitattributes": "*.txt text\n"}},
		} {
			user, state := userRepo(t, files[0]), filepath.Join(t.TempDir(), "state")
			base := head(t, user)
			tr := add(t, openAt(t, user, state, way), "T1.1", base)
			gittest.WriteFiles(t, tr.Dir, files[1])
			if _, _, err := tr.Snapshot(t.Context(), "s"); err != nil {
				t.Fatal(err)
			}
			s := openAt(t, user, state, way)
			back := add(t, s, "T1.1", base)
			gittest.WriteFiles(t, back.Dir, map[string]string{"x.txt": "x\r\ny\r\n"})
			commit, _ := snap(t, s, back)
			if _, data, err := s.Objects().ReadObject(t.Context(), gittest.RunGit(t, s.PrivateRepo().Dir, "rev-parse", commit+":x.txt")); err != nil || string(data) != "x\ny\n" {
				t.Errorf("%s: x.txt is stored as %q, %v", name, data, err)
			}
		}
	})
}

// TestLineEndsOfTheLastSnapshot are what git is shown, not those of the base.
func TestLineEndsOfTheLastSnapshot(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		user := userRepo(t, map[string]string{"a.txt": "a\r\n"})
		s := open(t, user, way)
		tr := add(t, s, "T1.1", head(t, user))
		gittest.WriteFiles(t, tr.Dir, map[string]string{"a.txt": "a\n"})
		snap(t, s, tr)
		gittest.WriteFiles(t, tr.Dir, map[string]string{".gitattributes": "* text=auto\n", "a.txt": "a\r\nb\r\n"})
		commit, _ := snap(t, s, tr)
		if _, data, err := s.Objects().ReadObject(t.Context(), gittest.RunGit(t, s.PrivateRepo().Dir, "rev-parse", commit+":a.txt")); err != nil || string(data) != "a\nb\n" {
			t.Errorf("a.txt is stored as %q, %v", data, err)
		}
	})
}

// TestALinkInThePlaceOfAFile, and back: a restore makes each of them what it was.
func TestALinkInThePlaceOfAFile(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		user := userRepo(t, map[string]string{"a": "a\n", "b": "b\n"})
		s, base := open(t, user, way), head(t, user)
		tr := add(t, s, "T1.1", base)
		name := filepath.Join(tr.Dir, "a")
		if err := errors.Join(os.Remove(name), os.Symlink("b", name)); err != nil {
			t.Fatal(err)
		}
		linked, _ := snap(t, s, tr)
		for range 2 {
			if err := tr.Restore(t.Context(), base); err != nil {
				t.Fatal(err)
			}
			if text, err := os.ReadFile(filepath.Join(tr.Dir, "b")); err != nil || string(text) != "b\n" {
				t.Errorf("what the link led to is %q, %v", text, err)
			}
			if info, err := os.Lstat(name); err != nil || !info.Mode().IsRegular() {
				t.Errorf("it is %v, %v", info, err)
			}
			if err := tr.Restore(t.Context(), linked); err != nil {
				t.Fatal(err)
			}
			if to, err := os.Readlink(name); err != nil || to != "b" {
				t.Errorf("it leads to %q, %v", to, err)
			}
		}
	})
}

// TestARestoreLeadsTheAgentsGit back to its directory, whatever is in the place of the file that does so.
func TestARestoreLeadsTheAgentsGit(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		user := userRepo(t, map[string]string{"a": "a\n"})
		s, base := open(t, user, way), head(t, user)
		tr := add(t, s, "T1.1", base)
		name := filepath.Join(tr.Dir, ".git")
		for _, spoil := range []func() error{
			func() error { return os.WriteFile(name, []byte("gitdir: elsewhere\n"), 0o600) },
			func() error { return os.Remove(name) },
			func() error { return errors.Join(os.Remove(name), os.MkdirAll(filepath.Join(name, "objects"), 0o700)) },
			func() error { return errors.Join(os.RemoveAll(name), os.Symlink("a", name)) },
		} {
			if err := spoil(); err != nil {
				t.Fatal(err)
			}
			if err := tr.Restore(t.Context(), base); err != nil {
				t.Fatal(err)
			}
			if got := gittest.RunGit(t, tr.Dir, "status", "--porcelain"); got != "" {
				t.Errorf("the agent's git says %q", got)
			}
		}
		if text, err := os.ReadFile(filepath.Join(tr.Dir, "a")); err != nil || string(text) != "a\n" {
			t.Errorf("a link was followed: %q, %v", text, err)
		}
	})
}

// TestDatesWithoutAClock go on from those of the base, one second a snapshot.
func TestDatesWithoutAClock(t *testing.T) {
	user := userRepo(t, map[string]string{"a": "a\n"})
	s := open(t, user, worktree.FillPlain)
	tr := add(t, s, "T1.1", head(t, user))
	at := func(commit string) string {
		return gittest.RunGit(t, s.PrivateRepo().Dir, "log", "-1", "--format=%ct", commit)
	}
	before := at(head(t, user))
	for _, text := range []string{"one\n", "two\n"} {
		gittest.WriteFiles(t, tr.Dir, map[string]string{"a": text})
		commit, _ := snap(t, s, tr)
		if now := at(commit); now <= before || len(now) != len(before) {
			t.Errorf("made at %s, after one of %s", now, before)
		} else {
			before = now
		}
	}
}

// TestASweepThatCannotRemove says so, and what is still there is not among what is gone.
func TestASweepThatCannotRemove(t *testing.T) {
	user, state := userRepo(t, map[string]string{"a": "a\n"}), filepath.Join(t.TempDir(), "state")
	s := openAt(t, user, state, worktree.FillPlain)
	half := filepath.Join(state, "trees", "r", ".new-1")
	gittest.WriteFiles(t, half, map[string]string{"tree/a": "a\n"})
	if err := os.RemoveAll(filepath.Join(state, "trash")); err != nil {
		t.Fatal(err)
	}
	gittest.WriteFiles(t, state, map[string]string{"trash": "in the way\n"})
	gone, err := s.RemoveTrees(t.Context(), none, false)
	if err == nil || len(gone) > 0 {
		t.Errorf("gone are %q: %v", gone, err)
	}
	if err := os.Remove(filepath.Join(state, "trash")); err != nil {
		t.Fatal(err)
	}
	if gone, err := s.RemoveTrees(t.Context(), none, false); err != nil || len(gone) != 1 || gone[0] != half {
		t.Errorf("gone are %q: %v", gone, err)
	}
}

// TestWhereATreeIs tells the directory of an attempt's files, and its branch, from its name alone.
func TestWhereATreeIs(t *testing.T) {
	user, state := userRepo(t, map[string]string{"a": "a\n"}), filepath.Join(t.TempDir(), "state")
	tr := add(t, openAt(t, user, state, worktree.FillPlain), "T1.1", head(t, user))
	for _, c := range []struct {
		run          nexus.RunID
		id           nexus.AttemptID
		path, branch string
	}{
		{"r", "T1.1", tr.Dir, "nexus/r/T1.1"}, {"r", "T2.1", "", "nexus/r/T2.1"}, {"r", "../T1.1", "", ""}, {"..", "T1.1", "", ""},
	} {
		if path, branch := worktree.LocateAttemptFiles(state, c.run, c.id); path != c.path || branch != c.branch {
			t.Errorf("%s of %s: %q, %q", c.id, c.run, path, branch)
		}
	}
}

// TestALargeFile is stored by git, piece by piece, and comes back as it was.
func TestALargeFile(t *testing.T) {
	user := userRepo(t, map[string]string{"a": "a\n"})
	s, base := open(t, user, worktree.FillPlain), head(t, user)
	tr := add(t, s, "T1.1", base)
	name := filepath.Join(tr.Dir, "large")
	const size = 32<<20 + 1
	if err := errors.Join(os.WriteFile(name, []byte("begins"), 0o600), os.Truncate(name, size)); err != nil {
		t.Fatal(err)
	}
	commit, files := snap(t, s, tr)
	if got := gittest.RunGit(t, s.PrivateRepo().Dir, "cat-file", "-s", commit+":large"); got != "33554433" || files != "a\nlarge" {
		t.Errorf("%s bytes of it are kept, in a tree with %q", got, files)
	}
	if err := errors.Join(tr.Restore(t.Context(), base), tr.Restore(t.Context(), commit)); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(name); err != nil || info.Size() != size {
		t.Errorf("%+v, %v", info, err)
	}
}
