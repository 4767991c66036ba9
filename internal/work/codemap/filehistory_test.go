package codemap_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/work/codemap"
)

// grown makes a repository of commits, each of which changes some files and has
// the first of them as its subject.
func grown(tb testing.TB, commits ...string) (git.Repo, string) {
	tb.Helper()
	dir := tb.TempDir()
	var in strings.Builder
	for i, names := range commits {
		subject := fmt.Sprintf("change %d", i)
		fmt.Fprintf(&in, "commit refs/heads/main\ncommitter U <u@example.org> %d +0000\ndata %d\n%s\n", 1_700_000_000+86_400*i, len(subject), subject)
		for name := range strings.FieldsSeq(names) {
			if gone, ok := strings.CutPrefix(name, "-"); ok {
				fmt.Fprintf(&in, "D %s\n", gone)
				continue
			}
			text := fmt.Sprintf("%d\n", i)
			if name == ".nexusignore" {
				text = "hidden/\n"
			}
			fmt.Fprintf(&in, "M 100644 inline %s\ndata %d\n%s\n", name, len(text), text)
		}
	}
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"fast-import", "--quiet"}} {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(in.String())
		if out, err := cmd.CombinedOutput(); err != nil {
			tb.Fatalf("%v\n%s", err, out)
		}
	}
	repo := git.Repo{Dir: filepath.Join(dir, ".git")}
	head, err := repo.Resolve(tb.Context(), "refs/heads/main")
	if err != nil {
		tb.Fatal(err)
	}
	return repo, head
}

// TestHistory says what changes together: often enough, not in huge commits, and
// neither what is gone nor what is hidden.
func TestHistory(t *testing.T) {
	huge := "a.go doc.md"
	for i := range 40 {
		huge += fmt.Sprintf(" big/%d", i)
	}
	repo, head := grown(t, ".nexusignore a.go b.go", huge, huge, huge, huge,
		"a.go a.md hidden/x", "a.go a.md hidden/x gone", "a.go a.md hidden/x gone", "a.go twice gone", "a.go twice -gone", "a.go", "b.go once", "a.go a.md")
	s, err := codemap.SurveyCommit(t.Context(), repo, head, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.FileHistory(t.Context(), "a.go", 100)
	want := codemap.FileHistory{Looked: 13, Together: []codemap.CoChangedFile{{File: "a.md", With: "a.go", Commits: 4, Of: 8}}}
	for _, i := range []int{12, 10, 9, 8, 7} {
		day := time.Unix(1_700_000_000, 0).UTC().AddDate(0, 0, i).Format(time.DateOnly)
		want.Commits = append(want.Commits, codemap.FileCommit{Day: day, Subject: fmt.Sprintf("change %d", i), Files: []string{"a.go"}})
	}
	for i := range got.Commits {
		got.Commits[i].ID = ""
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v %s", err, diff)
	}
	m := &codemap.RepositoryMapper{Tokens: 2_000, Commits: 8}
	told, err := m.DescribeHistory(t.Context(), repo, head, head, []string{"./a.go", "b.go", "new.go", "hidden/x"})
	if err != nil || !strings.HasPrefix(told, "a.md: changed in 4 of the 7 commits that changed a.go\n\n2023-11-26 ") ||
		!strings.Contains(told, " change 11 (b.go)\n") || strings.Contains(told, "hidden") {
		t.Errorf("%v\n%s", err, told)
	}
	if len(told) > 1_500 || strings.Count(told, "\n") != 7 {
		t.Errorf("%d bytes:\n%s", len(told), told)
	}
	for _, m := range []*codemap.RepositoryMapper{nil, {Tokens: 2_000}} {
		if told, err := m.DescribeHistory(t.Context(), repo, head, head, []string{"a.go"}); told != "" || err != nil {
			t.Errorf("%q %v", told, err)
		}
	}
}

// BenchmarkHistory asks a repository of 50,000 commits and 10,000 files.
func BenchmarkHistory(b *testing.B) {
	commits := make([]string, 50_000)
	name := func(i int) string { return fmt.Sprintf("p%d/f%d.go", i%10_000/100, i%10_000) }
	for i := range commits {
		commits[i] = name(i*7) + " " + name(i*7+1)
	}
	repo, head := grown(b, commits...)
	s, err := codemap.SurveyCommit(b.Context(), repo, head, nil)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := s.FileHistory(b.Context(), name(7), 2_000); err != nil {
			b.Fatal(err)
		}
	}
}
