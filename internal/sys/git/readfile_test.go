package git

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
)

// openReaderTest returns the clone of a repository with a few files, and the same repository without a
// reader.
func openReaderTest(t *testing.T) (c *PrivateClone, plain Repo) {
	t.Helper()
	user := t.TempDir()
	gittest.RunGit(t, user, "init", "-q", "-b", "main")
	gittest.WriteFiles(t, user, map[string]string{"a": "one\n", "d/b": "two\n", "d/e/c": "", "d/sp ace": "x\n"})
	gittest.RunGit(t, user, "add", ".")
	gittest.RunGit(t, user, "commit", "-q", "-m", "begin")
	c = want[*PrivateClone](t)(OpenClone(t.Context(), want[Repo](t)(FindRepo(t.Context(), user)), t.TempDir()))
	t.Cleanup(func() { _ = c.Close() })
	return c, Repo{Dir: c.git.Dir}
}

// TestReaderAgrees holds that a reader gives the answers that a process of git's gives, also where there
// is nothing, and after what ends the reader.
func TestReaderAgrees(t *testing.T) {
	c, plain := openReaderTest(t)
	for _, rev := range []string{
		c.head, "refs/user/" + c.head, c.head[:12], c.head + "^{tree}", c.head + ":d", c.head + ":a", "HEAD", "main", "", "a..b", "^" + c.head, "--all",
		"@{u}", c.head + "~1", ":a", "a\nb", strings.Repeat("0", 40), "refs/user/" + c.head + "^{/begin}", " " + c.head,
	} {
		for _, kind := range []string{"commit", "tree"} {
			is, err := c.git.objectID(t.Context(), rev, kind)
			was, failed := plain.objectID(t.Context(), rev, kind)
			if is != was || (err == nil) != (failed == nil) || err != nil && !strings.HasPrefix(failed.Error(), err.Error()) {
				t.Errorf("%s of %q: %q, %v; want %q, %v", kind, rev, is, err, was, failed)
			}
		}
	}
	for _, path := range []string{"a", "d/b", "d/e/c", "d/sp ace", "d", "gone", "d/gone", "a/b", "", "x\ny", "d/"} {
		for _, limit := range []int{1, 100} {
			is, cut, err := c.git.ReadFile(t.Context(), c.head, path, limit)
			was, wasCut, failed := plain.ReadFile(t.Context(), c.head, path, limit)
			if err != nil {
				is, was = "", ""
			}
			if is != was || cut != wasCut || (err == nil) != (failed == nil) {
				t.Errorf("%q: %q, %t, %v; want %q, %t, %v", path, is, cut, err, was, wasCut, failed)
			}
		}
		if path == "" || strings.HasSuffix(path, "/") {
			continue // not a path of an entry
		}
		is, ok, err := c.git.EntryAt(t.Context(), c.head, path)
		was, wasThere, failed := plain.EntryAt(t.Context(), c.head, path)
		if was.Name = is.Name; is != was || ok != wasThere || err != nil || failed != nil {
			t.Errorf("entry %q: %v, %t, %v; want %v, %t, %v", path, is, ok, err, was, wasThere, failed)
		}
	}
	is, err := c.git.TreeEntries(t.Context(), c.head)
	was, failed := plain.TreeEntries(t.Context(), c.head)
	if diff := cmp.Diff(was, is); diff != "" || err != nil || failed != nil {
		t.Errorf("%s\n%v %v", diff, err, failed)
	}
}

// TestReaderSeesChanges holds that a reader that was started earlier knows new objects and where refs are now.
func TestReaderSeesChanges(t *testing.T) {
	c, plain := openReaderTest(t)
	first := want[string](t)(c.git.Resolve(t.Context(), c.head))
	blob := want[string](t)(plain.RunWithInput(t.Context(), strings.NewReader("new"), "hash-object", "-w", "--stdin"))
	tree := want[string](t)(plain.RunWithInput(t.Context(), strings.NewReader("100644 blob "+strings.TrimSpace(blob)+"\tn\n"), "mktree"))
	commit := want[string](t)(plain.RunLine(t.Context(), "commit-tree", "-m", "later", "-p", first, strings.TrimSpace(tree)))
	for _, at := range []string{first, commit, ""} {
		args := []string{"update-ref", "refs/nexus/x", at}
		if at == "" {
			args = []string{"update-ref", "-d", "refs/nexus/x"}
		}
		want[string](t)(plain.Run(t.Context(), args...))
		if is, err := refCommit(t.Context(), c.git, "refs/nexus/x"); is != at || err != nil {
			t.Errorf("the ref is at %q, not at %q: %v", is, at, err)
		}
	}
	if text, _, err := c.git.ReadFile(t.Context(), commit, "n", 100); text != "new" || err != nil {
		t.Errorf("%q, %v", text, err)
	}
}

// TestCallsOfClone bounds the processes: opening a clone again takes four, and questions about objects
// take none.
func TestCallsOfClone(t *testing.T) {
	c, _ := openReaderTest(t)
	fail, calls, _ := gittest.InstallFailingGit(t)
	again := want[*PrivateClone](t)(OpenClone(t.Context(), c.user, t.TempDir()))
	defer again.Close()
	fail(0)
	reopened := want[*PrivateClone](t)(OpenClone(t.Context(), Repo{Dir: c.user.Dir, Work: c.user.Work}, strings.TrimSuffix(again.git.Dir, "/repo.git")))
	defer reopened.Close()
	if n := calls(); n > 4 { // the common directory, the settings, two readers
		t.Errorf("opening a clone starts git %d times", n)
	}
	fail(0)
	for range 20 {
		want[string](t)(reopened.git.TreeID(t.Context(), c.head))
		want[string](t)(refCommit(t.Context(), reopened.user, "refs/heads/main"))
		if text, _, err := reopened.git.ReadFile(t.Context(), c.head, "d/b", 100); text != "two\n" || err != nil {
			t.Fatal(text, err)
		}
		if _, ok, err := reopened.git.EntryAt(t.Context(), c.head, "d/e/c"); !ok || err != nil {
			t.Fatal(err)
		}
		if _, _, err := reopened.git.ReadFile(t.Context(), c.head, "gone", 100); err == nil {
			t.Fatal("a missing file was read")
		}
	}
	if n := calls(); n != 0 {
		t.Errorf("questions about objects start git %d times", n)
	}
	want[MergeResult](t)(reopened.Merge(t.Context(), c.head, c.head, c.head))
	if n := calls(); n > 1 { // merge-tree
		t.Errorf("a merge starts git %d times", n)
	}
	fail(0)
	if err := reopened.MoveRef(t.Context(), "refs/nexus/x", c.head, ""); err != nil || calls() > 1 {
		t.Errorf("moving a ref starts git %d times: %v", calls(), err)
	}
	fail(0)
	note := func([]byte) ([]byte, error) { return []byte("note\n"), nil }
	if err := reopened.EditNotes(t.Context(), map[string]NoteEditFunc{c.head: note}); err != nil || calls() > 5 {
		t.Errorf("a note starts git %d times: %v", calls(), err)
	}
	fail(0)
	if err := reopened.PublishBranch(t.Context(), "nexus/x", c.head); err != nil || calls() > 6 {
		t.Errorf("publishing starts git %d times: %v", calls(), err)
	}
}

// TestClonedRepo finds a clone that was made earlier, without a process.
func TestClonedRepo(t *testing.T) {
	c, _ := openReaderTest(t)
	_, calls, _ := gittest.InstallFailingGit(t)
	if r, ok := ClonedRepo(t.TempDir()); ok {
		t.Errorf("there is a clone in %s", r.Dir)
	}
	if r, ok := ClonedRepo(filepath.Dir(c.git.Dir)); !ok || r.Dir != c.git.Dir || calls() != 0 {
		t.Errorf("%v, %t, in %d calls", r, ok, calls())
	}
}
