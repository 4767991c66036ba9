package mutate_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/mutate"
)

// TestFreshLinesOfAMovedFile holds that a file that moved has as new lines those
// that it did not have where it was.
func TestFreshLinesOfAMovedFile(t *testing.T) {
	dir := t.TempDir()
	text := "package a\n\nfunc A(n int) bool {\n\treturn n > 3\n}\n\nfunc B(n int) bool {\n\treturn n < 3\n}\n"
	gittest.WriteFiles(t, dir, map[string]string{"a.go": text})
	gittest.RunGit(t, dir, "init", "-q")
	gittest.RunGit(t, dir, "add", ".")
	gittest.RunGit(t, dir, "commit", "-q", "-m", "base")
	gittest.RunGit(t, dir, "mv", "a.go", "b.go")
	gittest.WriteFiles(t, dir, map[string]string{"b.go": text + "\nfunc C(n int) bool {\n\treturn n == 3\n}\n"})
	gittest.RunGit(t, dir, "add", ".")
	gittest.RunGit(t, dir, "commit", "-q", "-m", "moved")
	repo, err := git.FindRepo(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	for name, fresh := range map[string]func() ([]mutate.MutableFile, error){
		"commit": func() ([]mutate.MutableFile, error) {
			return mutate.ChangedFilesIn(t.Context(), repo, "HEAD~1", "HEAD")
		},
		"working tree": func() ([]mutate.MutableFile, error) { return mutate.ChangedFiles(t.Context(), repo, "HEAD~1") },
	} {
		found, err := fresh()
		if err != nil || len(found) != 1 || found[0].Path != "b.go" {
			t.Fatalf("%s: %+v, %v", name, found, err)
		}
		if got := slices.Sorted(maps.Keys(found[0].New)); !slices.Equal(got, []int{11, 12, 13}) {
			t.Errorf("%s: new lines %v", name, got)
		}
	}
}
