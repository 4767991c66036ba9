package worktree_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
)

// TestJudged looks at trees as gates do: at the base, at what was made of it, at that put
// back, and at a tree that stands on no history. What the agent did to its own git
// directory is not seen, and is there again afterwards.
func TestJudged(t *testing.T) {
	ways(t, func(t *testing.T, way worktree.TreeFillMethod) {
		t.Helper()
		user := userRepo(t, map[string]string{"a": "a\n", "d/b": "b\n", "crlf": "x\n", ".gitattributes": "crlf text eol=crlf\n"})
		gittest.RunGit(t, user, "tag", "v1")
		gittest.RunGit(t, user, "branch", "nexus/r")
		base := head(t, user)
		s := open(t, user, way)
		tr := add(t, s, "T", base)
		gittest.RunGit(t, tr.Dir, "config", "diff.external", "true")
		gittest.RunGit(t, tr.Dir, "commit", "-q", "--allow-empty", "-m", "the agent's own")
		look := func(tr *worktree.AttemptTree, hash, parent string) {
			t.Helper()
			reads, done, err := tr.ExposeGateRepo(t.Context(), hash)
			if err != nil {
				t.Fatal(err)
			}
			for _, dir := range reads {
				if info, err := os.Stat(dir); err != nil || !info.IsDir() {
					t.Errorf("%s: %v", dir, err)
				}
			}
			for args, want := range map[string]string{
				"rev-parse HEAD^{tree}": hash,
				"rev-parse main v1":     base + "\n" + base,
				"rev-parse HEAD~0~" + map[bool]string{true: "0", false: "1"}[parent == ""]: base,
				"status --porcelain":              "",
				"diff-files":                      "",
				"describe --tags --abbrev=0":      "v1",
				"symbolic-ref HEAD":               worktree.AttemptBranch(tr.Run, tr.ID),
				"config --default= diff.external": "",
			} {
				if got := gittest.RunGit(t, tr.Dir, strings.Fields(args)...); got != want {
					t.Errorf("git %s says %q, want %q", args, got, want)
				}
			}
			if err := done(); err != nil {
				t.Fatal(err)
			}
			if got := gittest.RunGit(t, tr.Dir, "config", "diff.external"); tr.ID == "T" && got != "true" {
				t.Errorf("the agent's own git says %q", got)
			}
		}
		first := gittest.RunGit(t, user, "rev-parse", "HEAD^{tree}")
		look(tr, first, "")
		gittest.WriteFiles(t, tr.Dir, map[string]string{"a": "z\n", "new": "new\n"})
		os.Remove(filepath.Join(tr.Dir, "d/b"))
		_, second, err := tr.Snapshot(t.Context(), "s")
		if err != nil {
			t.Fatal(err)
		}
		look(tr, second, base)
		gittest.WriteFiles(t, tr.Dir, map[string]string{"a": "y\n"})
		if err := tr.ResetExactly(t.Context(), second); err != nil {
			t.Fatal(err)
		}
		look(tr, second, base)
		if err := tr.ResetExactly(t.Context(), first); err != nil {
			t.Fatal(err)
		}
		look(tr, first, "")
		gittest.RunGit(t, tr.Dir, "update-index", "--refresh")
		bare := must[*worktree.AttemptTree](t)(s.AddTree(t.Context(), "r", "bare", second))
		gittest.RunGit(t, bare.Dir, "config", "diff.external", "true")
		look(bare, second, base)
	})
}

// TestGateCalls bounds the processes of a gate: the first one on a tree lists the user's refs and fills
// the index, each later one refreshes the index only.
func TestGateCalls(t *testing.T) {
	s := openAt(t, userRepo(t, map[string]string{"a": "a\n"}), filepath.Join(t.TempDir(), "state"), worktree.FillPlain)
	tr := add(t, s, "T", s.UserHead())
	_, tree := tr.LastSnapshot()
	fail, calls, _ := gittest.InstallFailingGit(t)
	for n, most := range []int{4, 1, 1} {
		fail(0)
		_, done, err := tr.ExposeGateRepo(t.Context(), tree)
		if err != nil {
			t.Fatal(err)
		}
		if got := calls(); got > most {
			t.Errorf("gate %d starts git %d times, at most %d are needed", n+1, got, most)
		}
		if err := done(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestJudgedAndKilled finds the agent's own git directory again where who judged was killed.
func TestJudgedAndKilled(t *testing.T) {
	user, state := userRepo(t, map[string]string{"a": "a\n"}), filepath.Join(t.TempDir(), "state")
	s := openAt(t, user, state, worktree.FillPlain)
	tr := add(t, s, "T", head(t, user))
	_, tree := tr.LastSnapshot()
	if _, _, err := tr.ExposeGateRepo(t.Context(), tree); err != nil {
		t.Fatal(err)
	}
	again := openAt(t, user, state, worktree.FillPlain)
	tr = must[*worktree.AttemptTree](t)(again.AddTree(t.Context(), "r", "T", head(t, user)))
	if got := gittest.RunGit(t, tr.Dir, "rev-parse", "--absolute-git-dir"); got != tr.Git {
		t.Errorf("git finds %s, want %s", got, tr.Git)
	}
}

// TestNamesOfAgents: the agent's git has the user's names, also where something is hidden,
// which it is in what they stand on, too.
func TestNamesOfAgents(t *testing.T) {
	for name, hiding := range map[string]worktree.HiddenFileRules{"shown": {}, "hidden": hides()} {
		user := userRepo(t, map[string]string{"a": "a\n", "hidden/a": "canary\n", ".nexusignore": "hidden/\n"})
		gittest.RunGit(t, user, "checkout", "-q", "-b", "feature")
		gittest.WriteFiles(t, user, map[string]string{"f": "f\n", "hidden/b": "other canary\n"})
		gittest.RunGit(t, user, "add", ".")
		gittest.RunGit(t, user, "commit", "-q", "-m", "feature")
		gittest.RunGit(t, user, "tag", "-a", "v1", "-m", "v1")
		gittest.RunGit(t, user, "checkout", "-q", "main")
		s := open(t, user, worktree.FillPlain)
		s.Hides = hiding
		for i, id := range []nexus.AttemptID{"one", "two"} {
			tr := add(t, s, id, head(t, user))
			says := gittest.RunGit(t, tr.Dir, "show", "feature:f", "v1:hidden/b", "v1:hidden/a")
			if strings.Contains(says, "canary") != (name == "shown") || !strings.HasPrefix(says, "f\n") {
				t.Errorf("%s: the agent's git says %q", name, says)
			}
			if got := gittest.RunGit(t, tr.Dir, "diff", "--name-only", "main...feature"); got != "f\nhidden/b" {
				t.Errorf("%s: git diff says %q", name, got)
			}
			if i == 0 {
				gittest.RunGit(t, user, "tag", "v2", "feature")
			}
		}
	}
}
