package stack_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// TestLocates takes commands for what prints a place only word by word: a text
// that is cut in two is another program, which may print nothing.
func TestLocates(t *testing.T) {
	for _, c := range []struct {
		words []string
		want  bool
	}{
		{[]string{"go", "list", "-m", "-f", "{{.Dir}}", "x"}, true},
		{[]string{"go", "env", "GOMODCACHE"}, true},
		{[]string{"go", "env", "GOMODCACHE", "x"}, false},
		{[]string{"npm", "root", "-g"}, true},
		{[]string{"yarn", "root"}, false},
		{[]string{"bundle", "info", "--path", "rack"}, true},
		{[]string{"rustc", "--print=sysroot"}, true},
		{[]string{"python3", "-c", "import os; print(os.__file__)"}, true},
		{[]string{"python3", "-c", "import", "os; print(os.__file__)"}, false},
		{[]string{"node", "-p", "require.resolve('a/b.js')"}, true},
		{[]string{"node", "-p", "require.resolve('a/../b.js')"}, false},
		{nil, false},
	} {
		if got := stack.IsLocateCommand(c.words); got != c.want {
			t.Errorf("%q: %v, want %v", c.words, got, c.want)
		}
	}
}
