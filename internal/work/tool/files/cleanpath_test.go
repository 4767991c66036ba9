package files

import (
	"os"
	"path/filepath"
	"testing"
)

// TestClimb goes up from where a link leads, as the kernel does.
func TestClimb(t *testing.T) {
	dir := t.TempDir()
	for _, d := range []string{"a", "c/d"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for name, to := range map[string]string{"a/b": "../c/d", "a/out": "/usr", "a/top": ".."} {
		if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"a/x", "c/x", "x"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	tree := NewAgentTree(dir, root)
	for name, want := range map[string]string{
		"a/b/../x": "c/x", "a/../x": "x", "./a/./x": "a/x", "a/b/../../x": "x", "c/d/../x": "c/x", dir + "/a/b/../x": "c/x", "c/d/..": "c",
		"a/b/../../../x": "", "../x": "", "a/out/../x": "", "a/top/../x": "", "none/../x": "", "x/../x": "",
	} {
		got, err := tree.CleanPath(name, false)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
		if want == "" || want == "c" {
			continue
		}
		is, err := os.ReadFile(filepath.Join(dir, "a", "..") + "/" + name)
		if filepath.IsAbs(name) {
			is, err = os.ReadFile(name)
		}
		if text, failed := tree.Read(got, 1, 0); err != nil || failed != nil || text != string(is) {
			t.Errorf("%s: %q, the kernel %q: %v, %v", name, text, is, failed, err)
		}
	}
}
