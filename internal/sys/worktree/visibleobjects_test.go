package worktree_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
)

// hides keeps what is below a directory hidden from agents, where a file says so.
func hides() worktree.HiddenFileRules {
	return worktree.HiddenFileRules{File: ".nexusignore", Rules: func(map[string]string) (func(string) bool, error) {
		return func(path string) bool { return strings.HasPrefix(path, "hidden/") }, nil
	}}
}

// TestHiddenHistory shows an agent's git all of a history but what is hidden,
// whatever commit or object it is asked for, and lets it work all the same.
func TestHiddenHistory(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		user := userRepo(t, map[string]string{"hidden/a": "canary one\n", "hidden/gone": "canary gone\n", "hidden/moved": "was hidden\n", "b": "b\n"})
		commit := func(files map[string]string) string {
			gittest.WriteFiles(t, user, files)
			gittest.RunGit(t, user, "add", "-A")
			gittest.RunGit(t, user, "commit", "-q", "-m", "next")
			return head(t, user)
		}
		os.Remove(filepath.Join(user, "hidden/gone"))
		first := commit(map[string]string{".nexusignore": "hidden/\n", "hidden/a": "canary two\n", "b": "b2\n"})
		s := open(t, user, way)
		s.Hides = hides()
		tr := add(t, s, "one", first)

		look := func(tr *worktree.AttemptTree) {
			t.Helper()
			ids := gittest.RunGit(t, user, "rev-list", "--objects", "HEAD")
			if !strings.Contains(ids, " hidden/a") || !strings.Contains(ids, " hidden/gone") {
				t.Fatalf("the history has no hidden files:\n%s", ids)
			}
			said := gittest.RunGit(t, tr.Dir, "log", "-p") + gittest.RunGit(t, tr.Dir, "show", "HEAD:hidden/a") + gittest.RunGit(t, tr.Dir, "grep", "-e", "canary", "-e", "b2", "HEAD", "HEAD~1")
			for line := range strings.Lines(ids) {
				id, name, _ := strings.Cut(strings.TrimSpace(line), " ")
				switch name {
				case "hidden/a", "hidden/gone":
					said += gittest.RunGit(t, tr.Dir, "cat-file", "-p", id)
					dir := t.TempDir() // without the blank it is not there at all
					gittest.RunGit(t, dir, "init", "-q")
					gittest.WriteFiles(t, dir, map[string]string{".git/objects/info/alternates": tr.ReadablePaths()[0] + "\n"})
					if exec.CommandContext(t.Context(), "git", "-C", dir, "cat-file", "-e", id).Run() == nil {
						t.Errorf("%s is among the objects that the agent reads", name)
					}
				case "b":
					gittest.RunGit(t, tr.Dir, "cat-file", "-e", id)
				}
			}
			if strings.Contains(said, "canary") || !strings.Contains(said, "+b2") || strings.Count(said, "[hidden from agents by .nexusignore]") < 4 {
				t.Errorf("the agent's git says:\n%s", said)
			}
		}
		look(tr)
		gittest.WriteFiles(t, tr.Dir, map[string]string{"b": "b3\n"})
		gittest.RunGit(t, tr.Dir, "commit", "-q", "-a", "-m", "the agent's own")
		if got := gittest.RunGit(t, tr.Dir, "status", "--short"); got != "" {
			t.Errorf("status says %q", got)
		}
		if data, err := os.ReadFile(filepath.Join(tr.Dir, "hidden/a")); string(data) != "canary two\n" {
			t.Errorf("the file holds %q, %v", data, err)
		}
		if _, files := snap(t, s, tr); !strings.Contains(files, "hidden/a") {
			t.Errorf("the snapshot holds %q", files)
		}

		// The next commit adds to the same objects. What was hidden is shown where it
		// stands under another name.
		second := commit(map[string]string{"hidden/a": "canary three\n", "moved": "was hidden\n"})
		if _, err := s.Fetch(t.Context(), "HEAD"); err != nil {
			t.Fatal(err)
		}
		two := add(t, s, "two", second)
		if two.ReadablePaths()[0] != tr.ReadablePaths()[0] {
			t.Errorf("objects in %s and %s", tr.ReadablePaths(), two.ReadablePaths())
		}
		look(two)
		if got := gittest.RunGit(t, two.Dir, "show", "HEAD:moved"); got != "was hidden" {
			t.Errorf("what is shown says %q", got)
		}

		// Without such a file nothing is kept back.
		gittest.RunGit(t, user, "rm", "-q", ".nexusignore")
		all := add(t, s, "three", commitOf(t, s, commit(map[string]string{"c": "c\n"})))
		if got := gittest.RunGit(t, all.Dir, "show", "HEAD:hidden/a"); got != "canary three" {
			t.Errorf("got %q", got)
		}
		if again := must[*worktree.AttemptTree](t)(s.AddTree(t.Context(), "r", "two", second)); again.ReadablePaths()[0] != two.ReadablePaths()[0] {
			t.Errorf("the tree reads %s, and then %s", two.ReadablePaths(), again.ReadablePaths())
		}
		shown := filepath.Dir(two.ReadablePaths()[0])
		for _, keep := range []bool{true, false} {
			must[[]string](t)(s.RemoveTrees(t.Context(), func(_ nexus.RunID, _ nexus.AttemptID) bool { return keep }, false))
			if _, err := os.Stat(shown); err != nil {
				t.Errorf("the newest objects are gone: %v", err)
			}
		}
	})
}

// commitOf brings the user's last commit in.
func commitOf(t *testing.T, s *worktree.Store, want string) string {
	t.Helper()
	if got, err := s.Fetch(t.Context(), "HEAD"); err != nil || got != want {
		t.Fatalf("fetched %s, %v", got, err)
	}
	return want
}
