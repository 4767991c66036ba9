package checkcmd

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
)

// TestOpenReview finds each change that can be named, copies the tree that it
// leads to, and writes nothing to the repository.
func TestOpenReview(t *testing.T) {
	dir := t.TempDir()
	do := func(args ...string) string { return strings.TrimSpace(gittest.RunGit(t, dir, args...)) }
	commit := func(subject string, files map[string]string) string {
		gittest.WriteFiles(t, dir, files)
		do("add", ".")
		do("commit", "-q", "-m", subject)
		return do("rev-parse", "HEAD")
	}
	do("init", "-q", "-b", "main")
	first := commit("First", map[string]string{"a": "one\n", ".gitignore": "ignored\n"})
	do("checkout", "-q", "-b", "side")
	commit("On the side", map[string]string{"side": "side\n"})
	do("checkout", "-q", "main")
	second := commit("Second", map[string]string{"b": "two\n"})
	third := commit("Third", map[string]string{"c": "three\n"})
	gittest.WriteFiles(t, dir, map[string]string{"d": "staged\n"})
	do("add", "d")
	gittest.WriteFiles(t, dir, map[string]string{"d": "later\n", "e": "new\n", "ignored": "x\n"})
	orphan := do("commit-tree", "-m", "apart", "main^{tree}")
	look := func() string { return do("status", "--short", "--ignored") + do("count-objects", "-v") }
	before := look()
	user, err := git.FindRepo(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		order ReviewScope
		from  string
		added string // lines that the diff adds, and takes away
		files string // of the copy
		title string
		words string
	}{
		"not committed":         {ReviewScope{}, third, "+later +new", ".gitignore a b c d e", "the uncommitted changes", ""},
		"staged":                {ReviewScope{Staged: true}, third, "+staged", ".gitignore a b c d", "the staged changes", ""},
		"a range":               {ReviewScope{Range: "main~2..main~1"}, first, "+two", ".gitignore a b", "the commits of main~2..main~1", "Second"},
		"a range to here":       {ReviewScope{Range: "main~2.."}, first, "+two +three", ".gitignore a b c", "the commits of main~2..", "Second, Third"},
		"a range from here":     {ReviewScope{Range: "..main~1"}, third, "-three", ".gitignore a b", "the commits of ..main~1", ""},
		"a range from another":  {ReviewScope{Range: "side..main"}, do("rev-parse", "side"), "+two +three -side", ".gitignore a b c", "the commits of side..main", "Second, Third"},
		"a range from the fork": {ReviewScope{Range: "side...main"}, first, "+two +three", ".gitignore a b c", "the commits of side...main", "Second, Third"},
		"since a commit":        {ReviewScope{Range: "main~1"}, second, "+three +later +new", ".gitignore a b c d e", "the changes since main~1", "Third"},
		"since a branch":        {ReviewScope{Range: "side"}, do("rev-parse", "side"), "+two +three +later +new -side", ".gitignore a b c d e", "the changes since side", "Second, Third"},
		"since the fork":        {ReviewScope{Base: "side"}, first, "+two +three +later +new", ".gitignore a b c d e", "the changes since side", "Second, Third"},
	} {
		s, err := openReview(t.Context(), user, c.order)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		changed := map[string]bool{}
		for line := range strings.Lines(s.diff) {
			if line = strings.TrimSpace(line); len(line) > 2 && (line[0] == '+' || line[0] == '-') && line[1] != line[0] {
				changed[line] = true
			}
		}
		want := map[string]bool{}
		for _, line := range strings.Fields(c.added) {
			want[line] = true
		}
		if diff := cmp.Diff(want, changed); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		entries, err := os.ReadDir(s.dir)
		if err != nil {
			t.Fatal(err)
		}
		var files []string
		for _, e := range entries {
			files = append(files, e.Name())
		}
		if s.from != c.from || strings.Join(files, " ") != c.files || s.title != c.title || strings.Join(s.words, ", ") != c.words {
			t.Errorf("%s: from %.7s, %v, %q, %q", name, s.from, files, s.title, s.words)
		}
		if s.remove(); s.at == "" {
			t.Errorf("%s: it is nowhere", name)
		} else if _, err := os.Stat(s.at); !os.IsNotExist(err) {
			t.Errorf("%s: the copy is still there", name)
		}
	}
	for name, c := range map[string]struct {
		order ReviewScope
		code  nexus.ErrorCode
		says  string
	}{
		"nothing":      {ReviewScope{Range: "main..main"}, nexus.CodeInvalidInput, "nothing to review: the commits of main..main are empty"},
		"nowhere":      {ReviewScope{Range: "nowhere"}, nexus.CodeNotFound, "nowhere"},
		"to nowhere":   {ReviewScope{Range: "main..nowhere"}, nexus.CodeNotFound, "nowhere"},
		"from no fork": {ReviewScope{Base: orphan}, nexus.CodeInvalidInput, "no common commit"},
	} {
		if s, err := openReview(t.Context(), user, c.order); !errors.Is(err, &nexus.Error{Code: c.code}) || !strings.Contains(err.Error(), c.says) || s != nil {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
	if after := look(); after != before {
		t.Errorf("%q, before %q", after, before)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".git", "*.lock")); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

// TestTheWorkingTreeAgain reads only what changed since, whatever the index hides.
func TestTheWorkingTreeAgain(t *testing.T) {
	dir := t.TempDir()
	gittest.RunGit(t, dir, "init", "-q")
	gittest.WriteFiles(t, dir, map[string]string{"a": "one\n", "b": "two\n"})
	gittest.RunGit(t, dir, "add", ".")
	gittest.RunGit(t, dir, "commit", "-q", "-m", "base")
	user, err := git.FindRepo(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	w, err := readWorking(t.Context(), user)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	want := strings.TrimSpace(gittest.RunGit(t, dir, "rev-parse", "HEAD^{tree}"))
	if again, err := w.rehash(t.Context()); w.Hash != want || again != want || err != nil {
		t.Errorf("%s, then %s, want %s, %v", w.Hash, again, want, err)
	}
	gittest.WriteFiles(t, dir, map[string]string{"a": "other\n", "c": "new\n"})
	if err := os.Remove(filepath.Join(dir, "b")); err != nil {
		t.Fatal(err)
	}
	again, err := w.rehash(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	out, err := w.Repo.Run(t.Context(), "ls-tree", "--name-only", again)
	if err != nil || strings.Join(strings.Fields(out), " ") != "a c" {
		t.Errorf("%q, %v", out, err)
	}
	w.Close()
	if _, err := os.Stat(w.Repo.Dir); !os.IsNotExist(err) {
		t.Error("what was stored is still there", err)
	}
}

// TestTheWorkingTreeOfAnIndexThatHidesIt is what lies there, though git was told
// not to look at any file.
func TestTheWorkingTreeOfAnIndexThatHidesIt(t *testing.T) {
	dir := t.TempDir()
	gittest.RunGit(t, dir, "init", "-q")
	gittest.WriteFiles(t, dir, map[string]string{"a": "one\n"})
	gittest.RunGit(t, dir, "add", ".")
	gittest.RunGit(t, dir, "commit", "-q", "-m", "base")
	gittest.RunGit(t, dir, "update-index", "--assume-unchanged", "a")
	gittest.WriteFiles(t, dir, map[string]string{"a": "two\n"})
	user, err := git.FindRepo(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	w, err := readWorking(t.Context(), user)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	if text, err := w.Repo.Run(t.Context(), "cat-file", "blob", w.Hash+":a"); err != nil || text != "two\n" {
		t.Errorf("%q, %v", text, err)
	}
}
