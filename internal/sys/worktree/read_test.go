package worktree

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// TestReadFile reads what is a file, up to the size from which git does it, and nothing else.
func TestReadFile(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for name, size := range map[string]int64{"none": 0, "most": minGitStoredSize, "more": minGitStoredSize + 1} {
		if err := errors.Join(os.WriteFile(at(name), nil, 0o600), os.Truncate(at(name), size)); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.WriteFile(at("program"), []byte("x"), 0o700), os.Mkdir(at("dir"), 0o700), os.Symlink("most", at("link"))); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]struct {
		size int
		mode uint32
		err  string
	}{
		"none": {0, git.ModeFile, ""}, "most": {minGitStoredSize, git.ModeFile, ""}, "program": {1, git.ModeExec, ""},
		"more": {0, 0, "grew while it was read"}, "dir": {0, 0, "is no longer a file"}, "link": {0, 0, "open "}, "gone": {0, 0, "no such file"},
	} {
		data, st, err := readFile(at(name))
		if want.err != "" {
			if err == nil || !strings.Contains(err.Error(), want.err) {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil || len(data) != want.size || st.Mode != want.mode || st.Size != uint32(want.size) {
			t.Errorf("%s: %d bytes, %+v, %v", name, len(data), st, err)
		}
	}
}
