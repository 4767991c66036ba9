package land

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
)

// treesOf opens the worktrees of a repository.
func treesOf(t *testing.T, dir string) *worktree.Store {
	t.Helper()
	r, err := git.FindRepo(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	trees, err := worktree.OpenStore(t.Context(), r, filepath.Join(t.TempDir(), "state"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = trees.Close() })
	return trees
}

// TestWhatCameBackIsTakenBackAgain: a commit that took a landing back once says nothing of a
// branch on which somebody brought it back.
func TestWhatCameBackIsTakenBackAgain(t *testing.T) {
	dir := t.TempDir()
	gittest.RunGit(t, dir, "init", "-q", "-b", "main")
	commit := func(message string, files map[string]string) string {
		gittest.WriteFiles(t, dir, files)
		gittest.RunGit(t, dir, "add", "-A")
		gittest.RunGit(t, dir, "commit", "-qm", message)
		return gittest.RunGit(t, dir, "rev-parse", "HEAD")
	}
	u := RevertRequest{Branch: "main", Subject: "Say it", Why: "It made something worse.", Run: "loop-1", At: time.Unix(1e9, 0)}
	u.Before = commit("first", map[string]string{"a": "one\n", "b": "one\n"})
	u.Commit = commit("landed", map[string]string{"a": "two\n"})
	trees := treesOf(t, dir)
	back := func(want string) string {
		t.Helper()
		made, _, at, done, err := MakeRevertCommit(t.Context(), trees, u)
		if err != nil || done != (want != "") || done && made != want {
			t.Fatalf("%s, done %t, %v, want %q", made, done, err, want)
		}
		if !done {
			if err := trees.LandOnUserBranch(t.Context(), "main", made, at); err != nil {
				t.Fatal(err)
			}
		}
		return made
	}
	first := back("")
	back(first)
	gittest.RunGit(t, dir, "revert", "--no-edit", first)
	second := back("")
	back(second)
	commit("later", map[string]string{"a": "three\n"})
	back(second)
}

// TestWhatSomebodyTookBackByHandIsDone: there is nothing to commit.
func TestWhatSomebodyTookBackByHandIsDone(t *testing.T) {
	dir := t.TempDir()
	gittest.RunGit(t, dir, "init", "-q", "-b", "main")
	u := RevertRequest{Branch: "main", Run: "loop-1", At: time.Unix(1e9, 0)}
	for n, text := range []string{"one\n", "two\n", "one\n"} {
		gittest.WriteFiles(t, dir, map[string]string{"a": text})
		gittest.RunGit(t, dir, "add", "-A")
		gittest.RunGit(t, dir, "commit", "-qm", text)
		if at := gittest.RunGit(t, dir, "rev-parse", "HEAD"); n == 0 {
			u.Before = at
		} else if n == 1 {
			u.Commit = at
		}
	}
	trees := treesOf(t, dir)
	made, _, at, done, err := MakeRevertCommit(t.Context(), trees, u)
	if err != nil || !done || made != at {
		t.Errorf("%s at %s, done %t, %v", made, at, done, err)
	}
}

// TestNothingIsTakenBackWhereGitFails: whichever call fails, that is the answer, or it is done without it; nothing
// is said to be done before.
func TestNothingIsTakenBackWhereGitFails(t *testing.T) {
	dir := t.TempDir()
	gittest.RunGit(t, dir, "init", "-q", "-b", "main")
	u := RevertRequest{Branch: "main", Subject: "Say it", Why: "It made something worse.", Run: "loop-1", At: time.Unix(1e9, 0)}
	for n, text := range []string{"one\n", "two\n", "two\n"} {
		gittest.WriteFiles(t, dir, map[string]string{"a": text, string(rune('b' + n)): text})
		gittest.RunGit(t, dir, "add", "-A")
		gittest.RunGit(t, dir, "commit", "-qm", text)
		if at := gittest.RunGit(t, dir, "rev-parse", "HEAD"); n == 0 {
			u.Before = at
		} else if n == 1 {
			u.Commit = at
		}
	}
	trees := treesOf(t, dir)
	want, _, _, _, err := MakeRevertCommit(t.Context(), trees, u)
	if err != nil {
		t.Fatal(err)
	}
	fail, calls, failed := gittest.InstallFailingGit(t)
	for n := 1; ; n++ {
		fail(n)
		commit, _, _, done, err := MakeRevertCommit(t.Context(), trees, u)
		asked := failed()
		_, asked, _ = strings.Cut(asked, "--git-dir=")
		switch {
		case failed() == "" && (err != nil || done || commit != want || calls() < 3):
			t.Errorf("nothing failed: %q, done %t, %v, in %d calls", commit, done, err, calls())
		case err == nil && commit != want, err != nil && commit != "", done: // it may do without what failed
			t.Errorf("call %d failed, %q: %q, done %t, %v", n, asked, commit, done, err)
		}
		if failed() == "" {
			return
		}
	}
}
