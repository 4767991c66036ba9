package tool_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

// TestCloseLetsGoOfTheTree: a directory that is still open cannot be unmounted,
// and a worktree may be a mount.
func TestCloseLetsGoOfTheTree(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	set, err := tool.NewToolSet(tool.AgentToolEnvironment{Dir: dir, Root: root, Writes: true}, "write_file", "read_file")
	if err != nil {
		t.Fatal(err)
	}
	for name, in := range map[string]string{"write_file": `{"path": "sub/a.txt", "content": "a\n"}`, "read_file": `{"path": "sub/a.txt"}`} {
		for range 2 { // in either order, the second one finds the file
			set.Answer(t.Context(), llm.ToolCall{ID: "c", Tool: name, Input: json.RawMessage(in)})
		}
	}
	if n := opened(t, dir); n < 2 {
		t.Fatalf("%d files of the tree are open: the test looks at nothing", n)
	}
	set.Close()
	if err := root.Close(); err != nil {
		t.Fatal(err)
	}
	if n := opened(t, dir); n != 0 {
		t.Errorf("%d files of the tree are still open", n)
	}
}

// opened counts the files at dir and below that this process has open.
func opened(t *testing.T, dir string) (n int) {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, fd := range fds {
		if at, err := os.Readlink(filepath.Join("/proc/self/fd", fd.Name())); err == nil && strings.HasPrefix(at, dir) {
			n++
		}
	}
	return n
}
