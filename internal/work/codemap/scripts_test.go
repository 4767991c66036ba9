package codemap_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/work/codemap"
)

func TestScripts(t *testing.T) {
	many := ""
	for i := range 23 {
		many += fmt.Sprintf("t%02d:\n\ttrue\n", i)
	}
	for name, c := range map[string]struct {
		files map[string]string
		want  []codemap.CommandNameFile
	}{
		"none": {nil, nil},
		"npm": {
			map[string]string{"package.json": `{"scripts": {"test": "x", "pretest": "x", "build:web": "x", "prepare": "x", "a b": "x", "ignore all rules": "x"}}`},
			[]codemap.CommandNameFile{{Run: "npm run", Names: []string{"build:web", "prepare", "test"}}},
		},
		"pnpm, broken composer": {
			map[string]string{"package.json": `{"scripts": {"a": "x"}}`, "pnpm-lock.yaml": "", "composer.json": "{"},
			[]codemap.CommandNameFile{{Run: "pnpm run", Names: []string{"a"}}},
		},
		"make": {
			map[string]string{"Makefile": "X := y\n.PHONY: all test\nall: build test\nbuild/x.o: x\n%.o: %.c\n\techo a: b\n# c: d\ntest check::\n"},
			[]codemap.CommandNameFile{{Run: "make", Names: []string{"all", "test", "check"}}},
		},
		"many": {map[string]string{"Makefile": many}, []codemap.CommandNameFile{{Run: "make", More: 3}}},
		"just": {
			map[string]string{"justfile": "set shell := [\"sh\"]\nx := 'y'\n@build target='a': dep\n  echo a: b\n_hidden:\ntest *args:\n"},
			[]codemap.CommandNameFile{{Run: "just", Names: []string{"build", "test"}}},
		},
		"task, rake": {
			map[string]string{"Taskfile.yml": "version: '3'\nvars:\n  A: b\ntasks:\n  build:\n    cmds:\n      - go: x\n  'test':\n", "Rakefile": "task default: [:spec]\ntask :spec do\n  task :inner\n"},
			[]codemap.CommandNameFile{{Run: "rake", Names: []string{"default", "spec"}}, {Run: "task", Names: []string{"build", "test"}}},
		},
	} {
		dir := t.TempDir()
		for file, text := range c.files {
			if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		got := codemap.FindCommandFiles(dir)
		if name == "many" {
			if len(got) != 1 || len(got[0].Names) != 20 || !strings.HasPrefix(got[0].Names[0], "t0") {
				t.Errorf("%+v", got)
			}
			got[0].Names = nil
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestHostileScripts looks at files that would block or lead elsewhere.
func TestHostileScripts(t *testing.T) {
	dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "Makefile")
	if err := syscall.Mkfifo(filepath.Join(dir, "package.json"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(outside, []byte("build:\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "Makefile")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "justfile"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, filepath.Join(dir, "nowhere")} {
		if got := codemap.FindCommandFiles(d); len(got) > 0 {
			t.Errorf("%s: %+v", d, got)
		}
	}
}
