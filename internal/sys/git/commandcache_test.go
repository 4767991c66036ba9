package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
)

// TestMemory asks a repository twice, which is gone the second time: what was
// asked by names of objects alone is known, whatever a ref has a say in is not.
func TestMemory(t *testing.T) {
	dir := t.TempDir()
	gittest.RunGit(t, dir, "init", "-q", ".")
	gittest.WriteFiles(t, dir, map[string]string{"a.txt": "one\n", "long.txt": strings.Repeat("x", 100<<10)})
	gittest.RunGit(t, dir, "add", ".")
	gittest.RunGit(t, dir, "commit", "-qm", "first")
	gittest.WriteFiles(t, dir, map[string]string{"a.txt": "two\n"})
	gittest.RunGit(t, dir, "commit", "-qam", "second")
	was, now := gittest.RunGit(t, dir, "rev-parse", "HEAD~1"), gittest.RunGit(t, dir, "rev-parse", "HEAD")
	r := Repo{Dir: filepath.Join(dir, ".git"), Memory: newCommandCache(IsObjectID)}
	plain := Repo{Dir: r.Dir}
	asked := map[string]struct {
		ask   func(Repo) (string, error)
		known bool
	}{
		"a tree":         {func(r Repo) (string, error) { return r.TreeID(t.Context(), now) }, true},
		"a commit":       {func(r Repo) (string, error) { return r.Resolve(t.Context(), was) }, true},
		"a patch":        {func(r Repo) (string, error) { p, _, err := r.Patch(t.Context(), was, now); return p, err }, true},
		"the patch back": {func(r Repo) (string, error) { p, _, err := r.Patch(t.Context(), now, was); return p, err }, true},
		"names": {func(r Repo) (string, error) {
			return r.Run(t.Context(), "ls-tree", "--name-only", "--full-tree", now, "--", "a.txt")
		}, true},
		"other names": {func(r Repo) (string, error) {
			return r.Run(t.Context(), "ls-tree", "--name-only", "--full-tree", now)
		}, true},
		"a file":                 {func(r Repo) (string, error) { return r.Run(t.Context(), "cat-file", "blob", now+":a.txt") }, true},
		"a file as it was":       {func(r Repo) (string, error) { return r.Run(t.Context(), "cat-file", "blob", was+":a.txt") }, true},
		"a long file":            {func(r Repo) (string, error) { return r.Run(t.Context(), "cat-file", "blob", now+":long.txt") }, false},
		"a file of a ref":        {func(r Repo) (string, error) { return r.Run(t.Context(), "cat-file", "blob", "HEAD:a.txt") }, false},
		"a ref":                  {func(r Repo) (string, error) { return r.Resolve(t.Context(), "HEAD") }, false},
		"a short name":           {func(r Repo) (string, error) { return r.Resolve(t.Context(), now[:10]) }, false},
		"from a commit to a ref": {func(r Repo) (string, error) { return r.Run(t.Context(), "diff-tree", "-r", was, "HEAD") }, false},
		"what git is asked on its input": {func(r Repo) (string, error) {
			return r.RunWithInput(t.Context(), strings.NewReader(now+"\n"), "cat-file", "--batch-check")
		}, false},
		"commits before one": {func(r Repo) (string, error) { return r.Run(t.Context(), "rev-list", now) }, false},
	}
	want := map[string]string{}
	for name, c := range asked {
		var err error
		if want[name], err = c.ask(plain); err != nil {
			t.Fatal(name, err)
		}
		if got, err := c.ask(r); err != nil || got != want[name] {
			t.Errorf("%s: %q, %v; want %q", name, got, err, want[name])
		}
	}
	if out, cut, err := r.RunWithLimit(t.Context(), 2, "cat-file", "blob", now+":a.txt"); out != "tw" || !cut || err != nil {
		t.Errorf("the first two bytes: %q, %v, %v", out, cut, err)
	}
	if err := os.RemoveAll(r.Dir); err != nil {
		t.Fatal(err)
	}
	for name, c := range asked {
		switch got, err := c.ask(r); {
		case (err == nil) != c.known:
			t.Errorf("%s: %q, %v", name, got, err)
		case c.known && got != want[name]:
			t.Errorf("%s: %q instead of %q", name, got, want[name])
		}
	}
}
