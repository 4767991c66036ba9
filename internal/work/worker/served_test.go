package worker

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

// TestServedFiles holds an agent that has us read and write its files to the
// rules for our own.
func TestServedFiles(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{"a.txt": "one\n", ".env": "KEY=x\n", "a_test.go": "x\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Symlink(outside, filepath.Join(dir, "away")), os.Symlink(".env", filepath.Join(dir, "b.txt"))); err != nil {
		t.Fatal(err)
	}
	set, err := tool.NewToolSet(tool.AgentToolEnvironment{Dir: dir, Writes: true, Rule: func(name string) error {
		if strings.HasSuffix(name, "_test.go") {
			return errors.New("tests are another's")
		}
		return nil
	}}, "read_file")
	if err != nil {
		t.Fatal(err)
	}
	defer set.Close()
	f := agentFileAccess{set.AgentTree()}
	if text, err := f.Read(filepath.Join(dir, "a.txt")); text != "one\n" || err != nil {
		t.Errorf("read %q, %v", text, err)
	}
	if _, err := f.Read(filepath.Join(dir, "new.txt")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is not there: %v", err)
	}
	for _, name := range []string{".env", "b.txt", "../x", "away/x", "/etc/passwd", ".git/config"} {
		if !filepath.IsAbs(name) {
			name = dir + "/" + name
		}
		if text, err := f.Read(name); err == nil {
			t.Errorf("read %s: %q", name, text)
		}
		if err := f.Write(name, "x"); err == nil {
			t.Errorf("wrote %s", name)
		}
	}
	if err := f.Write(dir+"/a_test.go", "y"); err == nil || !strings.Contains(err.Error(), "another's") {
		t.Errorf("a file of another role: %v", err)
	}
	for _, text := range []string{"two\n", "three\n"} {
		if err := f.Write(dir+"/sub/new.txt", text); err != nil {
			t.Error(err)
		}
		if err := os.WriteFile(dir+"/sub/new.txt", []byte("by a tool of its own\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	set.AgentTree().Writes = false
	if err := f.Write(dir+"/a.txt", "x"); err == nil {
		t.Error("a reader wrote")
	}
}
