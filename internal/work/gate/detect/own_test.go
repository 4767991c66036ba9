package detect_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
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
			gates, err := detect.DetectGates(dir, config.GateSettings{Order: c.order, Commands: map[string]string{
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
	for _, c := range []struct {
		order, want []string
		own         map[string]string
	}{
		{nil, []string{"type", "build", "test"}, nil},
		{nil, []string{"build", "type", "test"}, map[string]string{"type": "make type"}},
		{[]string{"test"}, []string{"test", "type", "build"}, nil},
		{[]string{"test", "build"}, []string{"test", "type", "build"}, nil},
		{[]string{"build", "type"}, []string{"build", "type", "test"}, nil},
	} {
		gates, err := detect.DetectGates(dir, config.GateSettings{Order: c.order, Commands: c.own})
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

// TestOnlyForInterfaces: a gate of the whole interface judges where a file of one changed:
// those that somebody names, or those that a stack has. No other gate waits for that.
func TestOnlyForInterfaces(t *testing.T) {
	dir := tree(t)
	for _, c := range []struct{ ui, want []string }{{nil, stack.UIFilePatterns()}, {[]string{"web/**"}, []string{"web/**"}}} {
		gates, err := detect.DetectGates(dir, config.GateSettings{UI: c.ui, Commands: map[string]string{"e2e": "make e2e"}})
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range gates {
			want := c.want
			if g.Name != "e2e" {
				want = nil
			}
			if !slices.Equal(g.Only, want) {
				t.Errorf("%s waits for %q, want %q", g.Name, g.Only, want)
			}
		}
	}
	if len(stack.UIFilePatterns()) == 0 {
		t.Error("no stack has an interface")
	}
}

// TestCommandLines runs a line of words as it is, and leaves to a shell what only a shell
// understands: also a line that begins with a variable.
func TestCommandLines(t *testing.T) {
	for line, want := range map[string][]string{
		"go vet ./...":     {"go", "vet", "./..."},
		"CGO=0 go vet":     {"sh", "-c", "CGO=0 go vet"},
		"go vet && true":   {"sh", "-c", "go vet && true"},
		"make lint A=1":    {"sh", "-c", "make lint A=1"},
		"cd a; go vet":     {"sh", "-c", "cd a; go vet"},
		"go vet $PACKAGES": {"sh", "-c", "go vet $PACKAGES"},
	} {
		gates, err := detect.DetectGates(tree(t), config.GateSettings{Commands: map[string]string{"lint": line}})
		i := slices.IndexFunc(gates, func(g gate.QualityGate) bool { return g.Name == "lint" })
		if err != nil || i < 0 || !slices.Equal(gates[i].Args, want) {
			t.Errorf("%q is run as %q, %v, want %q", line, gates[i].Args, err, want)
		}
	}
}
