package git

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
)

// TestPast reads commits with odd names and subjects; of a merge there is nothing.
func TestPast(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("GIT_COMMITTER_DATE", "@1700000000 +0000")
	gittest.RunGit(t, dir, "init", "-q", "-b", "main", ".")
	gittest.WriteFiles(t, dir, map[string]string{"a": "1\n", "b c": "1\n", ":odd\n": "1\n"})
	gittest.RunGit(t, dir, "add", ".")
	gittest.RunGit(t, dir, "commit", "-qm", ":one\twith a tab\n\nand a body")
	gittest.RunGit(t, dir, "commit", "-q", "--allow-empty", "-m", "two: empty")
	gittest.RunGit(t, dir, "checkout", "-q", "-b", "side")
	gittest.RunGit(t, dir, "mv", "a", "d")
	t.Setenv("GIT_COMMITTER_DATE", "@1700000009 +0000")
	gittest.RunGit(t, dir, "commit", "-qm", "three")
	gittest.RunGit(t, dir, "checkout", "-q", "main")
	gittest.RunGit(t, dir, "merge", "-q", "--no-ff", "-m", "merge", "side")
	head := gittest.RunGit(t, dir, "rev-parse", "HEAD")
	repo := Repo{Dir: filepath.Join(dir, ".git")}
	for most, want := range map[int][]string{
		9: {`three ["a" "d"]`, `two: empty []`, ":one\twith a tab " + `[":odd\n" "a" "b c"]`},
		2: {`three ["a" "d"]`, `two: empty []`},
	} {
		past, err := repo.CommitHistory(t.Context(), head, most)
		var got []string
		for _, p := range past {
			got = append(got, fmt.Sprintf("%s %q", p.Subject, p.Files))
			if !IsObjectID(p.ID) || p.Time.Year() < 2000 {
				t.Errorf("%+v", p)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v\n%s", err, diff)
		}
	}
	if _, err := repo.CommitHistory(t.Context(), "main", 9); err == nil {
		t.Error("a history of a ref, which moves")
	}
}

// FuzzParsePast: what git says is read or refused, and one that was cut loses
// its last commit at most.
func FuzzParsePast(f *testing.F) {
	id := strings.Repeat("a", 40)
	f.Add(id+"\n1\nx\x00\n:100644 100644 a b M\x00f\x00"+id+"\n2\ny\x00", 7)
	f.Add(id+"\n1\n\x00:", 50)
	f.Add(":\x00f\x00", 1)
	f.Fuzz(func(t *testing.T, out string, at int) {
		whole, err := parseHistory(out, false)
		if err != nil {
			return
		}
		at = min(max(at, 0), len(out))
		part, err := parseHistory(out[:at], true)
		if err != nil {
			return // it was cut within a head
		}
		if len(part) > len(whole) {
			t.Fatalf("%d commits of a part, %d of all", len(part), len(whole))
		}
		for i, p := range part {
			if diff := cmp.Diff(whole[i], p); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}
