package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// lookedFor is a test that looks for a program and skips itself without it.
var lookedFor = regexp.MustCompile(`(?:exec\.LookPath|testing\.Short)\([^\n]*\n(?:[^\n]*\n)?[^\n]*\.Skip(?:f|Now)?\(`)

// TestSkips wants that a missing tool skips a test only by testenv.NeedTool,
// which fails instead where tools are required, so that nothing is left out
// in silence.
func TestSkips(t *testing.T) {
	if !lookedFor.MatchString("\tif _, err := exec.LookPath(\"node\"); err != nil {\n\t\tt.Skip(err)\n") {
		t.Fatal("control: the pattern finds nothing")
	}
	err := filepath.WalkDir(filepath.Join("..", ".."), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, "_test.go") || filepath.Base(path) == "skip_test.go" {
			return err
		}
		data, err := os.ReadFile(path)
		if m := lookedFor.Find(data); m != nil {
			t.Errorf("%s skips by itself; testenv.NeedTool does that:\n%s", path, m)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	stories, err := filepath.Glob("../../cmd/nexus/testdata/*/*.txtar")
	if err != nil || len(stories) < 100 {
		t.Fatalf("%d stories, %v", len(stories), err)
	}
	silent := regexp.MustCompile(`(?m)^\[!(?:exec|tool):[^\]]*\] skip`)
	for _, path := range stories {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if m := silent.Find(data); m != nil {
			t.Errorf("%s: %s: the command needs does that", path, m)
		}
	}
}
