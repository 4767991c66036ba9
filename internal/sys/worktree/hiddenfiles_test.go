package worktree_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
)

// TestSweepOfWhatAgentsSee keeps the objects that the git of a tree reads, and the newest
// ones; those that nobody reads go, with their lock.
func TestSweepOfWhatAgentsSee(t *testing.T) {
	user, state := userRepo(t, map[string]string{"hidden/a": "canary\n", "b": "b\n"}), filepath.Join(t.TempDir(), "state")
	s := openAt(t, user, state, worktree.FillPlain)
	s.Hides = hides()
	var trees []*worktree.AttemptTree
	var shown []string
	for i, id := range []nexus.AttemptID{"one", "two", "three"} {
		gittest.WriteFiles(t, user, map[string]string{".nexusignore": strings.Repeat("hidden/\n", i+1)})
		gittest.RunGit(t, user, "add", "-A")
		gittest.RunGit(t, user, "commit", "-q", "-m", "next")
		tr := add(t, s, id, commitOf(t, s, head(t, user)))
		dir := filepath.Dir(tr.ReadablePaths()[0])
		at := time.Now().Add(time.Duration(i-5) * time.Hour)
		if err := os.Chtimes(dir, at, at); err != nil || slices.Contains(shown, dir) {
			t.Fatalf("%s, %v", dir, err)
		}
		trees, shown = append(trees, tr), append(shown, dir)
	}
	all := func(nexus.RunID, nexus.AttemptID) bool { return true }
	swept := func(dry bool) (gone []string) {
		t.Helper()
		for _, dir := range must[[]string](t)(s.RemoveTrees(t.Context(), all, dry)) {
			if strings.HasPrefix(dir, filepath.Join(state, "shown")) {
				gone = append(gone, dir)
			}
		}
		return gone
	}
	if gone := swept(false); len(gone) > 0 {
		t.Errorf("what all of them read goes: %q", gone)
	}
	for _, i := range []int{0, 2} {
		if err := trees[i].Remove(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	for _, dry := range []bool{true, false} {
		if gone := swept(dry); !slices.Equal(gone, shown[:1]) {
			t.Errorf("dry %v: gone are %q, want %q", dry, gone, shown[:1])
		}
		for _, name := range []string{shown[0], shown[0] + ".lock"} {
			if _, err := os.Stat(name); (err == nil) != dry {
				t.Errorf("dry %v: %s: %v", dry, name, err)
			}
		}
	}
	if _, err := os.Stat(shown[2]); err != nil {
		t.Errorf("the newest: %v", err)
	}
	if got := gittest.RunGit(t, trees[1].Dir, "show", "HEAD:b", "HEAD:hidden/a"); got != "b\n"+strings.TrimSpace(worktree.HiddenText) {
		t.Errorf("the agent's git says %q", got)
	}
}

// TestWhereGitFailsOnceAndHides: where git fails once, nothing is taken for hidden that is not,
// nothing is shown that is hidden, and it is done when it is asked for again.
func TestWhereGitFailsOnceAndHides(t *testing.T) {
	fails, calls, _ := gittest.InstallFailingGit(t)
	user := userRepo(t, map[string]string{"hidden/a": "canary\n", "hidden/b": "canary\n", "b": "b\n", ".nexusignore": "hidden/\n"})
	base := head(t, user)
	story := func(n int) (failed error, all int, says string) { //nolint:staticcheck // the error is what the story is about
		fails(0)
		s := open(t, user, worktree.FillPlain)
		s.Hides = hides()
		fails(n)
		_, failed = s.AddTree(t.Context(), "r", "one", base)
		all = calls()
		fails(0)
		tr, err := s.AddTree(t.Context(), "r", "one", base)
		if err != nil {
			t.Fatalf("git fails at call %d, and later: %v", n, err)
		}
		return failed, all, gittest.RunGit(t, tr.Dir, "show", "HEAD:b", "HEAD:hidden/a") + gittest.RunGit(t, tr.Dir, "status", "--short")
	}
	failed, all, want := story(0)
	if failed != nil || all < 5 || strings.Contains(want, "canary") || !strings.Contains(want, strings.TrimSpace(worktree.HiddenText)) {
		t.Fatalf("%v, after %d calls: %q", failed, all, want)
	}
	for n := 2; n <= all; n++ { // the first reads the base: there is another way to do that
		if failed, _, says := story(n); failed == nil || says != want {
			t.Errorf("git fails at call %d of %d: %v, %q", n, all, failed, says)
		}
	}
}

// TestRulesOfWhatIsHidden that cannot be read keep a tree from being made.
func TestRulesOfWhatIsHidden(t *testing.T) {
	user := userRepo(t, map[string]string{"a": "a\n", ".nexusignore": "hidden/\n"})
	s := open(t, user, worktree.FillPlain)
	s.Hides = worktree.HiddenFileRules{File: ".nexusignore", Rules: func(map[string]string) (func(string) bool, error) { return nil, context.DeadlineExceeded }}
	if tr, err := s.AddTree(t.Context(), "r", "one", head(t, user)); err == nil {
		t.Errorf("%+v", tr)
	}
}

// TestNothingIsHidden by rules that name no file: the agent's git shows all of it, and works.
func TestNothingIsHidden(t *testing.T) {
	user := userRepo(t, map[string]string{"b": "b\n", "d/c": "c\n", ".nexusignore": "hidden/\n"})
	s := open(t, user, worktree.FillPlain)
	s.Hides = hides()
	tr := add(t, s, "one", head(t, user))
	if got := gittest.RunGit(t, tr.Dir, "show", "HEAD:b", "HEAD:d/c"); got != "b\nc" {
		t.Errorf("the agent's git says %q", got)
	}
	gittest.WriteFiles(t, tr.Dir, map[string]string{"b": "b2\n"})
	gittest.RunGit(t, tr.Dir, "commit", "-q", "-a", "-m", "the agent's own")
	if got := gittest.RunGit(t, tr.Dir, "log", "-p", "--format="); !strings.Contains(got, "+b2") || !strings.Contains(got, "+c") {
		t.Errorf("the agent's git says %q", got)
	}
}

// TestHiddenAndShownAreTheSame: what also stands under a name that is not hidden is shown.
func TestHiddenAndShownAreTheSame(t *testing.T) {
	user := userRepo(t, map[string]string{"a": "one\n", "hidden/b": "one\n", "hidden/c": "two\n", "z": "two\n", ".nexusignore": "hidden/\n"})
	s := open(t, user, worktree.FillPlain)
	s.Hides = hides()
	tr := add(t, s, "one", head(t, user))
	if got := gittest.RunGit(t, tr.Dir, "show", "HEAD:a", "HEAD:z"); got != "one\ntwo" {
		t.Errorf("the agent's git says %q", got)
	}
}
