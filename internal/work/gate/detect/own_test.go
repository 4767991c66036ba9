package detect_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
)

// TestOwnGatesInOrder: gates of the project's own, of which nothing says when they run, run
// in the order of their names, whatever order a map has, and after all others.
func TestOwnGatesInOrder(t *testing.T) {
	dir := tree(t)
	for _, c := range []struct {
		order []string
		want  []string
	}{
		{nil, []string{"build", "type", "test", "test-py", "audits", "docs", "licences", "spelling", "zeal"}},
		{[]string{"spelling", "test"}, []string{"spelling", "test", "test-py", "build", "type", "audits", "docs", "licences", "zeal"}},
	} {
		for range 20 {
			gates, err := detect.Gates(dir, config.Gates{Order: c.order, Commands: map[string]string{
				"spelling": "s", "audits": "a", "zeal": "z", "licences": "l", "docs": "d", "type": "t", "build": "b", "lint": "",
			}})
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, g := range gates {
				if g.Name != "format" {
					names = append(names, g.Name)
				}
			}
			if !slices.Equal(names, c.want) {
				t.Fatalf("%q, want %q", names, c.want)
			}
		}
	}
}

// TestRunsTests tells commands that count their tests from those that do not.
func TestRunsTests(t *testing.T) {
	for line, want := range map[string]bool{
		"go test ./...": true, "cd a && go test -run X .": true, "pytest -q": true, "cargo test": true, "npx vitest run": true,
		"make test": false, "./test.sh": false, "go build ./...": false, "": false,
	} {
		if have := detect.RunsTests(line); have != want {
			t.Errorf("%q: %v", line, have)
		}
	}
}

// TestEarly: what must judge before the build does, also where an order is given that does
// not name it.
func TestEarly(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"package.json":      `{"scripts": {"build": "tsc -b", "test": "node --test"}}`,
		"package-lock.json": `{}`, "tsconfig.json": `{}`, "a.ts": "export const a = 1\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ order, want []string }{
		{nil, []string{"type", "build", "test"}},
		{[]string{"test"}, []string{"test", "type", "build"}},
		{[]string{"test", "build"}, []string{"test", "type", "build"}},
		{[]string{"build", "type"}, []string{"build", "type", "test"}},
	} {
		gates, err := detect.Gates(dir, config.Gates{Order: c.order})
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, g := range gates {
			names = append(names, g.Name)
		}
		if !slices.Equal(names, c.want) {
			t.Errorf("with %q: %q, want %q", c.order, names, c.want)
		}
	}
}
