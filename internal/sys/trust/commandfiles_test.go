package trust_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
)

// TestFiles finds the files that a command names, those that a shell is to run
// among them.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.sh", "b=c.sh", "c.sh"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	outside := t.TempDir()
	for link, to := range map[string]string{"tool": filepath.Join(dir, "a.sh"), "repo": dir, "gone": filepath.Join(dir, "none")} {
		if err := os.Symlink(to, filepath.Join(outside, link)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		argv []string
		want []string
	}{
		{[]string{"sh", "a.sh"}, []string{"a.sh"}},
		{[]string{"sh", "-c", "./a.sh done; exec ./c.sh"}, []string{"a.sh", "c.sh"}},
		{[]string{"sh", "b=c.sh"}, []string{"b=c.sh", "c.sh"}},
		{[]string{"run", "--script=" + filepath.Join(dir, "a.sh")}, []string{"a.sh"}},
		{[]string{"sh", "../a.sh", "none"}, nil},
		{[]string{filepath.Join(outside, "tool")}, []string{"a.sh"}},
		{[]string{"sh", filepath.Join(outside, "repo", "c.sh")}, []string{"c.sh"}},
		{[]string{"sh", filepath.Join(outside, "gone"), outside}, nil},
	} {
		if diff := cmp.Diff(c.want, slices.Sorted(maps.Keys(trust.FilesOfCommand(root, ".", c.argv)))); diff != "" {
			t.Errorf("%v: %s", c.argv, diff)
		}
	}
}
