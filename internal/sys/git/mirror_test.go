package git

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
)

// TestMirror looks into a mirror with plain git, as a gate does: HEAD is what it was told, the
// names are the user's, and nothing is changed.
func TestMirror(t *testing.T) {
	user := t.TempDir()
	gittest.RunGit(t, user, "init", "-q", "-b", "main")
	gittest.WriteFiles(t, user, map[string]string{"a": "a\n", "d/b": "b\n", "lent/x": "x\n"})
	gittest.RunGit(t, user, "add", "a", "d")
	gittest.RunGit(t, user, "commit", "-q", "-m", "one")
	gittest.RunGit(t, user, "tag", "-a", "v1", "-m", "first")
	for _, ref := range []string{"refs/heads/feature", "refs/heads/nexus/old", "refs/remotes/origin/main"} {
		gittest.RunGit(t, user, "update-ref", ref, "HEAD")
	}
	gittest.RunGit(t, user, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main")
	gittest.WriteFiles(t, user, map[string]string{"a": "a2\n"})
	gittest.RunGit(t, user, "commit", "-q", "-a", "-m", "two")
	r := want[Repo](t)(FindRepo(t.Context(), user))
	names := want[[]NamedRef](t)(r.NamedRefs(t.Context()))
	head := gittest.RunGit(t, user, "rev-parse", "HEAD")
	tree := gittest.RunGit(t, user, "rev-parse", "HEAD~1^{tree}")

	for branch, rev := range map[string]string{"": head, "refs/heads/main": head, "refs/heads/nexus/old/T1": tree} {
		at := t.TempDir()
		m := ObjectBorrowingRepo{Dir: filepath.Join(at, "judged"), Work: filepath.Join(at, "tree"), From: r.Dir, Commit: head, Names: names, Exclude: []string{"lent"}}
		gittest.WriteFiles(t, m.Work, map[string]string{".git": "gitdir: ../judged\n"})
		if err := m.Write(); err != nil {
			t.Fatal(err)
		}
		commit := want[string](t)(m.SubstituteCommit(t.Context(), rev, head))
		m.Commit, m.Branch = commit, branch
		files := map[string]string{"a": "a2\n", "d/b": "b\n", "lent/x": "x\n"}
		if rev == tree {
			files["a"] = "a\n"
		}
		gittest.WriteFiles(t, m.Work, files)
		for _, err := range []error{m.Write(), m.ResetIndex(t.Context()), m.RefreshIndex(t.Context())} {
			if err != nil {
				t.Fatal(err)
			}
		}
		is := func(want string, args ...string) {
			t.Helper()
			if got := gittest.RunGit(t, m.Work, args...); got != want {
				t.Errorf("on %q git %v says %q, want %q", branch, args, got, want)
			}
		}
		is(gittest.RunGit(t, user, "rev-parse", rev+"^{tree}"), "rev-parse", "HEAD^{tree}")
		is("", "status", "--porcelain")
		is("", "diff-files")
		is("a\nd/b", "ls-files")
		is(head, "rev-parse", "main")
		is(gittest.RunGit(t, user, "rev-parse", "v1^{commit}"), "rev-parse", "feature^{commit}")
		is("refs/remotes/origin/main", "symbolic-ref", "refs/remotes/origin/HEAD")
		is("nexus", "config", "user.name")
		if rev == tree {
			is(head, "rev-parse", "HEAD~1")
			is("refs/heads/nexus/old/T1", "symbolic-ref", "HEAD")
		}
		gittest.WriteFiles(t, m.Work, map[string]string{"a": "zz\n"})
		is("M a", "status", "--porcelain")
	}
}

// TestMirrorOfBorrowed reads what the user's repository borrows from others, as deep as that goes.
func TestMirrorOfBorrowed(t *testing.T) {
	first, second, third := t.TempDir(), t.TempDir(), t.TempDir()
	gittest.RunGit(t, first, "init", "-q", "-b", "main")
	gittest.RunGit(t, first, "commit", "-q", "--allow-empty", "-m", "one")
	gittest.RunGit(t, second, "clone", "-q", "--shared", first, ".")
	gittest.RunGit(t, third, "clone", "-q", "--shared", second, ".")
	r := want[Repo](t)(FindRepo(t.Context(), third))
	reads := strings.Join(ObjectBorrowingRepo{Dir: "/m", From: r.Dir}.ReadablePaths(), "\n")
	for _, dir := range []string{first, second, third} {
		if !strings.Contains(reads, filepath.Join(dir, ".git/objects")) {
			t.Errorf("%s is not among %q", dir, reads)
		}
	}
	outside := want[[]string](t)(GitDirsOutsideWorkTree(t.Context(), r))
	if len(outside) != 2 || strings.Contains(strings.Join(outside, "\n"), third) {
		t.Errorf("outside are %q", outside)
	}
}

// TestNamesOfClone brings in what the user's names stand on, also later, and leaves out what
// cannot be had.
func TestNamesOfClone(t *testing.T) {
	user := t.TempDir()
	gittest.RunGit(t, user, "init", "-q", "-b", "main")
	gittest.RunGit(t, user, "commit", "-q", "--allow-empty", "-m", "one")
	c := want[*PrivateClone](t)(OpenClone(t.Context(), Repo{Dir: filepath.Join(user, ".git"), Work: user}, t.TempDir()))
	defer c.Close()
	refs := func() (all []string) {
		for _, n := range want[[]NamedRef](t)(c.ImportNamedRefs(t.Context())) {
			if _, _, err := c.Objects().ReadObject(t.Context(), n.ID); err != nil {
				t.Errorf("%s: %v", n.Ref, err)
			}
			all = append(all, n.Ref)
		}
		return all
	}
	if got := refs(); len(got) != 1 || got[0] != "refs/heads/main" {
		t.Errorf("names are %q", got)
	}
	gittest.RunGit(t, user, "checkout", "-q", "-b", "other")
	gittest.WriteFiles(t, user, map[string]string{"a": "a\n"})
	gittest.RunGit(t, user, "add", ".")
	gittest.RunGit(t, user, "commit", "-q", "-m", "two")
	gittest.RunGit(t, user, "tag", "v1")
	gittest.RunGit(t, user, "checkout", "-q", "main")
	if got := strings.Join(refs(), " "); got != "refs/heads/main refs/heads/other refs/tags/v1" {
		t.Errorf("names are %q", got)
	}
	if err := os.WriteFile(filepath.Join(user, ".git/refs/heads/lost"), []byte(strings.Repeat("ab", 20)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(refs(), " "); got != "refs/heads/main refs/heads/other refs/tags/v1" {
		t.Errorf("with one that is broken, names are %q", got)
	}
}

// FuzzParseNames takes what is said about names for what it is: what is taken is written the
// same way, and read again the same.
func FuzzParseNames(f *testing.F) {
	id := strings.Repeat("0a", 20)
	f.Add(id + " refs/heads/main \n" + id + " refs/remotes/origin/HEAD refs/remotes/origin/main\nx y\n")
	f.Add(id + " refs/tags/v\r \n")
	f.Fuzz(func(t *testing.T, out string) {
		names := parseNamedRefs(out)
		packed := FormatPackedRefs(names, "refs/heads/main")
		n := 0
		for line := range strings.Lines(packed) {
			ref, id, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			if ref == "#" {
				continue
			}
			n++
			if !IsObjectID(ref) || !strings.HasPrefix(id, "refs/") || id == "refs/heads/main" || strings.HasPrefix(id, "refs/heads/main/") {
				t.Errorf("%q became %q", out, line)
			}
		}
		if n > len(names) {
			t.Errorf("%d names became %d lines", len(names), n)
		}
	})
}

// want returns what is returned without an error.
func want[T any](t *testing.T) func(T, error) T {
	t.Helper()
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
