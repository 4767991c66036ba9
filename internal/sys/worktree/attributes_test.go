package worktree_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
)

func TestAttributes(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		user := userRepo(t, map[string]string{".gitattributes": "*.txt text\n*.bat text eol=crlf\n*.u16 working-tree-encoding=UTF-16\n", "a.txt": "a\n", "b.bat": "b\n"})
		s := open(t, user, way)
		tr := add(t, s, "T", head(t, user))
		if data, _ := os.ReadFile(filepath.Join(tr.Dir, "b.bat")); string(data) != "b\r\n" {
			t.Errorf("checked out %q", data)
		}
		gittest.WriteFiles(t, tr.Dir, map[string]string{"a.txt": "x\r\ny\r\n", "new.bat": "n\r\n", "raw": "r\r\n", "odd\n\"name": "o"})
		commit, _ := snap(t, s, tr)
		for name, want := range map[string]string{"a.txt": "x\ny\n", "new.bat": "n\n", "raw": "r\r\n"} {
			_, data, err := s.Objects().ReadObject(t.Context(), gittest.RunGit(t, s.PrivateRepo().Dir, "rev-parse", commit+":"+name))
			if err != nil || string(data) != want {
				t.Errorf("%s is stored as %q, %v", name, data, err)
			}
		}
		gittest.WriteFiles(t, tr.Dir, map[string]string{"bad.u16": "odd"}) // three bytes are no UTF-16
		commit, _ = snap(t, s, tr)
		if got := gittest.RunGit(t, s.PrivateRepo().Dir, "show", commit+":bad.u16"); got != "odd" {
			t.Errorf("what cannot be encoded is stored as %q", got)
		}
	})
}

// TestLineEndsStayAsTheyAlwaysWere where attributes leave it to git: a change to a
// file that was committed with a carriage return has no other lines in it, and a
// new file is stored without.
func TestLineEndsStayAsTheyAlwaysWere(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		user := userRepo(t, map[string]string{"dos.txt": "a\r\nb\r\n"})
		gittest.WriteFiles(t, user, map[string]string{".gitattributes": "* text=auto\n"})
		gittest.RunGit(t, user, "add", ".gitattributes")
		gittest.RunGit(t, user, "commit", "-qm", "attributes")
		s := open(t, user, way)
		tr := add(t, s, "T", head(t, user))
		gittest.WriteFiles(t, tr.Dir, map[string]string{"dos.txt": "a\r\nchanged\r\n", "new.txt": "n\r\n"})
		commit, _ := snap(t, s, tr)
		for name, want := range map[string]string{"dos.txt": "a\r\nchanged\r\n", "new.txt": "n\n"} {
			_, data, err := s.Objects().ReadObject(t.Context(), gittest.RunGit(t, s.PrivateRepo().Dir, "rev-parse", commit+":"+name))
			if err != nil || string(data) != want {
				t.Errorf("%s is stored as %q, %v", name, data, err)
			}
		}
	})
}

// TestNewAttributes: a file that says how others are stored counts for those
// that come with it, before it and after it, also where a tree is restored that
// includesPath it.
func TestNewAttributes(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		user := userRepo(t, map[string]string{"old.txt": "old\n"})
		s := open(t, user, way)
		tr := add(t, s, "T", head(t, user))
		stored := func(commit, name string) {
			t.Helper()
			if _, data, err := s.Objects().ReadObject(t.Context(), gittest.RunGit(t, s.PrivateRepo().Dir, "rev-parse", commit+":"+name)); err != nil || string(data) != "x\ny\n" {
				t.Errorf("%s is stored as %q, %v", name, data, err)
			}
		}
		gittest.WriteFiles(t, tr.Dir, map[string]string{"sub/.gitattributes": "*.txt text\n", "sub/-first.txt": "x\r\ny\r\n", "sub/a.txt": "x\r\ny\r\n"})
		with, _ := snap(t, s, tr)
		stored(with, "sub/-first.txt")
		stored(with, "sub/a.txt")
		gittest.WriteFiles(t, tr.Dir, map[string]string{"sub/b.txt": "x\r\ny\r\n"})
		commit, _ := snap(t, s, tr)
		stored(commit, "sub/b.txt")

		other := add(t, s, "U", head(t, user))
		if err := other.Restore(t.Context(), with); err != nil {
			t.Fatal(err)
		}
		gittest.WriteFiles(t, other.Dir, map[string]string{"sub/c.txt": "x\r\ny\r\n"})
		commit, _ = snap(t, s, other)
		stored(commit, "sub/c.txt")
	})
}
