package git_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// made returns a repository with some committed files.
func made(t *testing.T) (git.Repo, func(name, text string)) {
	t.Helper()
	dir := t.TempDir()
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a", "b", "c", "sub/d"} {
		put(name, name+"\n")
	}
	put(".gitignore", "*.o\n")
	if err := os.Symlink("a", filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := git.CreateRepo(t.Context(), dir, git.CommitIdentity{Name: "Ada", Email: "ada@example.org"}, "Begin"); err != nil {
		t.Fatal(err)
	}
	r, err := git.FindRepo(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	return r, put
}

func TestLook(t *testing.T) {
	r, put := made(t)
	look := func() git.UncommittedChanges {
		t.Helper()
		c, err := git.FindUncommittedChanges(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	if c := look(); !c.IsEmpty() {
		t.Fatalf("a fresh checkout has %+v", c)
	}
	put("x.o", "ignored\n")
	later := time.Now().Add(time.Hour)
	if err := os.Chtimes(filepath.Join(r.Work, "a"), later, later); err != nil {
		t.Fatal(err)
	}
	if c := look(); !c.IsEmpty() {
		t.Errorf("touched, and ignored, is %+v", c)
	}
	put("b", "B\n") // as long as before
	put("n/new", "new\n")
	if err := os.Remove(filepath.Join(r.Work, "link")); err != nil {
		t.Fatal(err)
	}
	put("link", "a") // no link any more
	if err := os.Remove(filepath.Join(r.Work, "sub/d")); err != nil {
		t.Fatal(err)
	}
	put("c", "staged\n")
	if _, err := r.Run(t.Context(), "add", "c"); err != nil {
		t.Fatal(err)
	}
	want := git.UncommittedChanges{Changed: []string{"b", "link", "sub/d"}, Staged: []string{"c"}, New: []string{"n/"}}
	if d := cmp.Diff(want, look()); d != "" {
		t.Error(d)
	}
	for _, kind := range [][]string{{"--index-version", "4"}, {"--index-version", "3"}, {"--untracked-cache"}, {"--split-index"}, {"--no-split-index"}} {
		if _, err := r.Run(t.Context(), append([]string{"-c", "core.splitIndex=" + fmt.Sprint(kind[0] == "--split-index"), "update-index"}, kind...)...); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, look()); d != "" {
			t.Errorf("%v: %s", kind, d)
		}
	}
}

// TestLookAtCleanCheckouts with what git keeps of them in other ways than it did once: they are
// clean, and a file that changes is noticed.
func TestLookAtCleanCheckouts(t *testing.T) {
	for name, setup := range map[string][][]string{
		"version 4":     {{"update-index", "--index-version", "4"}},
		"many files":    {{"config", "feature.manyFiles", "true"}, {"update-index", "--untracked-cache"}, {"update-index", "--index-version", "4"}},
		"assumed":       {{"update-index", "--assume-unchanged", "a"}},
		"skipped":       {{"update-index", "--skip-worktree", "a"}},
		"split":         {{"config", "core.splitIndex", "true"}, {"-c", "core.splitIndex=true", "update-index", "--split-index"}},
		"intent to add": {{"update-index", "--index-version", "3"}},
		"sparse":        {{"sparse-checkout", "set", "--cone", "sub"}},
		"sparse index":  {{"sparse-checkout", "set", "--cone", "--sparse-index", "sub"}},
		"a bad filter":  {{"config", "filter.a=b.clean", "false"}, {"config", "filter.a=b.required", "true"}},
	} {
		r, put := made(t)
		for _, args := range setup {
			if _, err := r.Run(t.Context(), args...); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		c, err := git.FindUncommittedChanges(t.Context(), r)
		if err != nil || !c.IsEmpty() {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
		put("sub/d", "changed\n")
		if c, err = git.FindUncommittedChanges(t.Context(), r); err != nil || len(c.Changed) != 1 || c.Changed[0] != "sub/d" || len(c.Staged)+len(c.New) > 0 {
			t.Errorf("%s: one changed is %+v, %v", name, c, err)
		}
	}
}

// TestNothingRuns puts filters and a monitor into the repository's own
// configuration, as one that came in an archive may have.
func TestNothingRuns(t *testing.T) {
	r, put := made(t)
	fired := filepath.Join(t.TempDir(), "fired")
	for _, kv := range [][2]string{{"filter.x.clean", "touch " + fired}, {"filter.x.process", "touch " + fired}, {"core.fsmonitor", "touch " + fired}, {"diff.x.command", "touch " + fired}, {"filter.y=z.clean", "touch " + fired}, {"filter.y=z.process", "touch " + fired}} {
		if _, err := r.Run(t.Context(), "config", kv[0], kv[1]); err != nil {
			t.Fatal(err)
		}
	}
	put(".gitattributes", "* filter=x diff=x\nb filter=y=z\n")
	put("a", "changed\n")
	put("b", "B\n")
	if c, err := git.FindUncommittedChanges(t.Context(), r); err != nil || len(c.Changed) != 2 {
		t.Errorf("%+v (%v)", c, err)
	}
	git.OperationInProgress(r)
	git.ReadUserIdentity(t.Context(), r, os.Getenv)
	if _, err := os.Stat(fired); err == nil {
		t.Error("a program of the repository was run")
	}
}

func TestDoingAndAuthor(t *testing.T) {
	r, _ := made(t)
	if got := git.OperationInProgress(r); got != "" {
		t.Errorf("nothing is %q", got)
	}
	if err := os.Mkdir(filepath.Join(r.Dir, "rebase-merge"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := git.OperationInProgress(r); got != "a rebase" {
		t.Errorf("a rebase is %q", got)
	}
	home := t.TempDir()
	vars := map[string]string{"HOME": home}
	env := func(name string) string { return vars[name] }
	if name, mail := git.ReadUserIdentity(t.Context(), r, env); name+mail != "" {
		t.Errorf("nobody is %s <%s>", name, mail)
	}
	text := "[user]\nname = Ada\nemail = ada@example.org\n"
	if err := os.WriteFile(filepath.Join(home, ".gitconfig"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	vars["GIT_AUTHOR_NAME"] = "Eve"
	if name, mail := git.ReadUserIdentity(t.Context(), r, env); name != "Eve" || !strings.HasPrefix(mail, "ada@") {
		t.Errorf("%s <%s>", name, mail)
	}
}
