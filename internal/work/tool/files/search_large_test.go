package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLargeFiles searches and reads beside files that are larger than any
// memory, and says what it did not look into.
func TestLargeFiles(t *testing.T) {
	dir := t.TempDir()
	for name, size := range map[string]int64{"sparse": 1 << 40, "line.txt": 500 << 20, "begins.txt": 1 << 40, "small.txt": 0} {
		f, err := os.Create(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if name != "sparse" {
			_, err = f.WriteString(strings.Repeat("needle ", 2000))
		}
		if err == nil && size > 0 {
			err = f.Truncate(size)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if err != nil {
			t.Skipf("no sparse files of %d bytes here: %v", size, err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	f := TreeSearcher{Tree: NewAgentTree(dir, root)}
	got, err := f.Search(t.Context(), SearchQuery{Pattern: "needle"})
	if err != nil || !strings.HasPrefix(got, "small.txt:1:needle") || !strings.Contains(got, "[not searched, larger than 2 MiB: begins.txt, line.txt, sparse]") {
		t.Errorf("%v: %.500s", err, got)
	}
	if got, err := f.Search(t.Context(), SearchQuery{Pattern: "needle", Path: "line.txt"}); err == nil {
		t.Errorf("one of them: %.200s", got)
	}
	for _, name := range []string{"sparse", "begins.txt"} {
		if got, err := f.Tree.Read(name, 1, 10); len(got) > MaxAnswer || err == nil && name == "sparse" {
			t.Errorf("%s: %d bytes, %v", name, len(got), err)
		}
	}
}
