package stack_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// TestWritten holds in which stack files are written.
func TestWritten(t *testing.T) {
	for _, c := range []struct {
		want  string
		files []string
	}{
		{"", nil},
		{"", []string{"README", "a.unknown"}},
		{"go", []string{"a/b.go"}},
		{"python", []string{"a.go", "b.py", "c/d.py", "README.md"}},
		{"go", []string{"a.go", "b.py"}},
		{"node", []string{"web/app.TS"}},
	} {
		if got := stack.MainStack(c.files); got != c.want {
			t.Errorf("%v: %q, want %q", c.files, got, c.want)
		}
	}
}
