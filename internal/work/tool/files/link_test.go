package files

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEditThroughLinks checks that an edit by the name of a link within the
// tree changes the file and leaves the link, and that no link leads an edit to
// what may not be written.
func TestEditThroughLinks(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("docs/real.md", "one\n")
	write(".claude/settings.json", "one\n")
	for link, to := range map[string]string{"AGENTS.md": "docs/real.md", "chain.md": "AGENTS.md", "docs/up.md": "../AGENTS.md", "config.json": ".claude/settings.json"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	tree := NewAgentTree(dir, root)
	tree.Writes = true
	last := "one"
	for _, name := range []string{"AGENTS.md", "chain.md", "docs/up.md"} {
		if _, err := tree.EditFile(name, []TextReplacement{{Old: last, New: last + "+"}}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		last += "+"
		data, err := os.ReadFile(filepath.Join(dir, "docs/real.md"))
		if info, lerr := os.Lstat(filepath.Join(dir, name)); err != nil || lerr != nil || info.Mode()&os.ModeSymlink == 0 || string(data) != last+"\n" {
			t.Errorf("%s: %q %v %v", name, data, err, lerr)
		}
	}
	if _, err := tree.EditFile("config.json", []TextReplacement{{Old: "one", New: "two"}}); err == nil || !strings.Contains(err.Error(), "config.json is a link to .claude/settings.json") {
		t.Errorf("a protected file was written through a link: %v", err)
	}
}

// TestAFileIsNoDirectory checks that a path which says that it names a
// directory is none of a file.
func TestAFileIsNoDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "x.go"), []byte("package x\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	tree := NewAgentTree(dir, root)
	for name, fits := range map[string]bool{"x.go": true, "./x.go": true, ".": true, "./": true, "x.go/.": false, "x.go/": false, "x.go/./": false, dir + "/x.go/.": false} {
		if _, err := tree.CleanPath(name, false); (err == nil) != fits {
			t.Errorf("%s: %v", name, err)
		}
	}
}
