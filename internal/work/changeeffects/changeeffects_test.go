package changeeffects_test

import (
	"slices"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/work/changeeffects"
)

func TestAround(t *testing.T) {
	dir := t.TempDir()
	gittest.WriteFiles(t, dir, map[string]string{"a": "1\n2\n3\n4\n5\n", "empty": "", "image": "1\n\x00\n"})
	gittest.RunGit(t, dir, "init", "-q")
	gittest.RunGit(t, dir, "add", "-A")
	gittest.RunGit(t, dir, "commit", "-qm", "base")
	gittest.WriteFiles(t, dir, map[string]string{"a": "other\n"}) // the commit is what counts
	repo, err := git.FindRepo(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		file string
		line int
		from int
		want []string
	}{
		{"a", 3, 2, []string{"2", "3", "4"}},
		{"a", 1, 1, []string{"1", "2"}},
		{"a", 5, 4, []string{"4", "5"}},
		{"a", 6, 0, nil},
		{"a", 0, 0, nil},
		{"empty", 1, 0, nil},
		{"image", 1, 0, nil},
		{"gone", 1, 0, nil},
		{"../a", 1, 0, nil},
	} {
		if from, got := changeeffects.LinesAround(t.Context(), repo, "HEAD", c.file, c.line, 1); from != c.from || !slices.Equal(got, c.want) {
			t.Errorf("%s:%d: from %d %q", c.file, c.line, from, got)
		}
	}
}
