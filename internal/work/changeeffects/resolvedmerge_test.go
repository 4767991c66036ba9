package changeeffects_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/work/changeeffects"
)

// TestMergeLost holds that a merge keeps a picture that no side touched, and a
// script that one side made executable.
func TestMergeLost(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	write := func(name, text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(at(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(at(name), mode); err != nil {
			t.Fatal(err)
		}
	}
	write("a.txt", "base\n", 0o600)
	write("run.sh", "true\n", 0o600)
	write("logo.png", "\x00png", 0o600)
	if err := git.CreateRepo(ctx, dir, git.CommitIdentity{}, "begin"); err != nil {
		t.Fatal(err)
	}
	r := git.Repo{Dir: at(".git"), Work: dir}
	tree := func() string {
		t.Helper()
		if _, err := r.Run(ctx, "add", "--all"); err != nil {
			t.Fatal(err)
		}
		hash, err := r.RunLine(ctx, "write-tree")
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	m := changeeffects.ResolvedMerge{Base: tree(), Conflicts: []string{"a.txt"}}
	write("a.txt", "landed\n", 0o600)
	write("run.sh", "true\n", 0o700)
	m.Landed, m.Made = tree(), tree()
	write("a.txt", "change\n", 0o600)
	write("run.sh", "true\n", 0o600)
	m.Change = tree()
	write("a.txt", "landed change\n", 0o600)
	if err := os.Remove(at("logo.png")); err != nil {
		t.Fatal(err)
	}
	m.Result = tree()
	found, err := m.FindLosses(ctx, r)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range found {
		names = append(names, f.Name)
	}
	if d := cmp.Diff([]string{"logo.png: the version of both sides", "run.sh: mode"}, names); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
}

// TestMergeUndone: of a conflict, entries that one side removed do not come back, and where
// git merged a file alone nothing is said of it.
func TestMergeUndone(t *testing.T) {
	ctx, dir := t.Context(), t.TempDir()
	write := func(list, free string) {
		t.Helper()
		for name, text := range map[string]string{"list.txt": list, "free.txt": free} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	write("red\ngreen\nblue\n", "a = 1\nb = 2\nc = 3\nd = 4\n")
	if err := git.CreateRepo(ctx, dir, git.CommitIdentity{}, "begin"); err != nil {
		t.Fatal(err)
	}
	r := git.Repo{Dir: filepath.Join(dir, ".git"), Work: dir}
	tree := func(list, free string) string {
		t.Helper()
		write(list, free)
		if _, err := r.Run(ctx, "add", "--all"); err != nil {
			t.Fatal(err)
		}
		hash, err := r.RunLine(ctx, "write-tree")
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	m := changeeffects.ResolvedMerge{
		Base:   tree("red\ngreen\nblue\n", "a = 1\nb = 2\nc = 3\nd = 4\n"),
		Landed: tree("blue\n", "b = 2\nc = 3\nd = 4\n"),
		Change: tree("red\ngreen\nblue and\npink\n", "a = 1\nb = 2\nc = 3\nd = 4\ne = 5\n"),
	}
	made, err := r.Merge(ctx, m.Base, m.Landed, m.Change)
	if err != nil || len(made.Conflicts) != 1 {
		t.Fatalf("%+v, %v", made, err)
	}
	m.Made, m.Conflicts = made.Tree, made.Conflicts
	for list, want := range map[string][]string{
		"blue and\npink\n":             nil,
		"red\ngreen\nblue and\npink\n": {"list.txt: lines removed by the landed work"},
	} {
		m.Result = tree(list, "b = 2\nc = 3\nd = 4\ne = 5\n")
		found, err := m.FindLosses(ctx, r)
		var names []string
		for _, f := range found {
			names = append(names, f.Name)
		}
		if d := cmp.Diff(want, names); d != "" || err != nil {
			t.Errorf("%q: %v, -want +got\n%s", list, err, d)
		}
	}
}
