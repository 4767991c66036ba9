package worktree_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
)

// TestIgnoreRules of a tree: which line leaves a path out, and none for what is
// tracked or brought back.
func TestIgnoreRules(t *testing.T) {
	user := userRepo(t, map[string]string{"a.go": "a\n", ".gitignore": "# made\nbuild/\n*.log\n!keep.log\n", "sub/.gitignore": "/own\n"})
	gittest.WriteFiles(t, user, map[string]string{"build/kept": "tracked all the same\n", ".git/info/exclude": "# mine\nmine.txt\n"})
	gittest.RunGit(t, user, "add", "-f", "build/kept")
	gittest.RunGit(t, user, "commit", "-q", "-m", "more")
	s := open(t, user, worktree.FillAny)
	tr := add(t, s, "T1.1", gittest.RunGit(t, user, "rev-parse", "HEAD"))
	got, err := tr.IgnoreRules(t.Context(), []string{
		"build/x.txt", "build/", "build", "build/kept", "x.log", "keep.log", "sub/own", "own", "a.go", "mine.txt", ":odd.log", "new \"name\".log",
	})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]string{}
	for p, rule := range got {
		all[p] = rule.String()
	}
	want := map[string]string{
		"build/x.txt": ".gitignore:2 (build/)", "build/": ".gitignore:2 (build/)", "build": ".gitignore:2 (build/)", "x.log": ".gitignore:3 (*.log)",
		"sub/own": "sub/.gitignore:1 (/own)", "mine.txt": ".git/info/exclude:2 (mine.txt)", ":odd.log": ".gitignore:3 (*.log)", "new \"name\".log": ".gitignore:3 (*.log)",
	}
	if d := cmp.Diff(want, all); d != "" {
		t.Error(d)
	}
	if got, err := tr.IgnoreRules(t.Context(), []string{"a.go"}); err != nil || len(got) > 0 {
		t.Errorf("%v, %v", got, err)
	}
}

// TestOwnIgnoreFiles of the user leave out what tools leave behind, in no other way
// than the tree's rules, but nothing that an agent means to write.
func TestOwnIgnoreFiles(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		home := t.TempDir()
		t.Setenv("HOME", home)
		t.Setenv("XDG_CONFIG_HOME", "")
		gittest.WriteFiles(t, home, map[string]string{".gitconfig": "[core]\n\texcludesFile = ~/ignored\n", "ignored": ".DS_Store\n*.txt\nnotes/\n"})
		user := userRepo(t, map[string]string{"a.go": "a\n", "b.txt": "tracked\n", ".gitignore": "*.log\n"})
		gittest.WriteFiles(t, user, map[string]string{".git/info/exclude": "mine/\n"})
		s := open(t, user, way)
		tr := add(t, s, "T1.1", gittest.RunGit(t, user, "rev-parse", "HEAD"))
		gittest.WriteFiles(t, tr.Dir, map[string]string{
			".DS_Store": "x", "d/.DS_Store": "x", "c.go": "c\n", "b.txt": "changed\n", "c.txt": "by a tool\n",
			"mine/x": "x", "mine/y": "y", "notes/z": "z", "c.log": "x",
		})
		files := func() string {
			commit, _, err := tr.Snapshot(t.Context(), "work")
			if err != nil {
				t.Fatal(err)
			}
			return gittest.RunGit(t, s.PrivateRepo().Dir, "diff-tree", "-r", "--name-only", tr.Base, commit)
		}
		if d := cmp.Diff("b.txt\nc.go", files()); d != "" {
			t.Error(d)
		}
		out := gittest.RunGit(t, tr.Dir, "status", "--porcelain", "--untracked-files=all")
		if strings.TrimSpace(out) != "M b.txt\n?? c.go" {
			t.Errorf("the agent's git says %q", out)
		}
		for _, name := range []string{"c.txt", "mine/x", "c.log"} {
			tr.ForceInclude(name)
		}
		if d := cmp.Diff("b.txt\nc.go\nc.txt\nmine/x", files()); d != "" {
			t.Error(d)
		}
	})
}
