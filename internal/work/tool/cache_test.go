package tool

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCachesAreRead reads dependencies outside of the worktree with the file
// tools and the shell, and nothing else of what is there.
func TestCachesAreRead(t *testing.T) {
	home := t.TempDir()
	cache := filepath.Join(home, "mod")
	for name, text := range map[string]string{
		"mod/example.com/lib@v1.0.0/errors.go": "package lib\n\n// ErrGone says so.\nvar ErrGone = 1\n",
		"mod/example.com/lib@v1.0.0/.npmrc":    "//registry.example.com/:_authToken=abcdefghijklmnop\n",
		"mod/example.com/lib@v1.0.0/k.json":    `{"key": "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn/ygWyF8PbnGy0AHB7MaC4VY0mhCy\n-----END RSA PRIVATE KEY-----"}`,
		"outside":                              "SECRET\n",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("../../../outside", filepath.Join(cache, "example.com/lib@v1.0.0/link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("errors.go", filepath.Join(cache, "example.com/lib@v1.0.0/same")); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, func(e *AgentToolEnvironment) { e.Box, e.Caches, e.Readable = box(t), []string{cache}, []string{cache} })
	b.write(t, "go.mod", "module x\n\nrequire (\n\texample.com/lib v1.0.0\n)\n")
	b.write(t, "package.json", `{"devDependencies":{"dep":"1"}}`)
	b.write(t, ".gitignore", "node_modules\n")
	b.write(t, "node_modules/dep/index.js", "export function gone() {}\n")
	lib := filepath.Join(cache, "example.com/lib@v1.0.0")
	for _, c := range []struct {
		tool string
		in   m
		want string
	}{
		{"read_file", m{"path": lib + "/errors.go"}, "var ErrGone = 1"},
		{"read_file", m{"path": lib + "/same"}, "var ErrGone = 1"},
		{"search_code", m{"pattern": "ErrGone", "path": cache}, lib + "/errors.go:4:var ErrGone = 1"},
		{"search_code", m{"pattern": "ErrGone", "path": lib + "/errors.go"}, lib + "/errors.go:4:"},
		{"list_files", m{"path": lib, "glob": "*.go"}, lib + "/errors.go"},
		{"request_context", m{"kind": "file", "query": lib + "/errors.go", "reason": "r"}, "var ErrGone"},
		{"request_context", m{"kind": "definition", "query": "ErrGone", "reason": "r"}, lib + "/errors.go:4\n// ErrGone says so.\nvar ErrGone"},
		{"request_context", m{"kind": "definition", "query": "gone", "reason": "r"}, "node_modules/dep/index.js:1\nexport function gone"},
		{"search_code", m{"pattern": "gone", "path": "node_modules/dep"}, "node_modules/dep/index.js:1:"},
		{"list_files", m{"path": "node_modules/dep"}, "node_modules/dep/index.js"},
		{"read_file", m{"path": "node_modules/dep/index.js"}, "gone"},
		{"shell", m{"command": "cat " + lib + "/errors.go"}, "var ErrGone"},
		{"shell", m{"command": "find " + cache + " -name errors.go -exec sed -n 4p {} +"}, "var ErrGone"},
		{"shell", m{"command": "cd " + lib + " && grep -n ErrGone errors.go"}, "4:var ErrGone"},
	} {
		if got := b.good(t, c.tool, c.in); !strings.Contains(got, c.want) {
			t.Errorf("%s %v: %q", c.tool, c.in, got)
		}
	}
	for _, c := range []struct {
		tool string
		in   m
		want string
	}{
		{"read_file", m{"path": home + "/outside"}, "outside the worktree"},
		{"read_file", m{"path": cache + "/../outside"}, "outside the worktree"},
		{"read_file", m{"path": lib + "/link"}, ""},
		{"read_file", m{"path": lib + "/.npmrc"}, "path.secret"},
		{"read_file", m{"path": lib + "/k.json"}, "a private key"},
		{"read_file", m{"path": cache + "-evil/x"}, "outside the worktree"},
		{"list_files", m{"path": home}, "outside the worktree"},
		{"search_code", m{"pattern": "SECRET", "path": home}, "outside the worktree"},
		{"write_file", m{"path": lib + "/new.go", "content": "x"}, "outside the worktree"},
		{"edit_file", m{"path": lib + "/errors.go", "edits": []m{{"old": "1", "new": "2"}}}, "outside the worktree"},
		{"shell", m{"command": "cat " + home + "/outside"}, "No such file"},
		{"shell", m{"command": "cat " + lib + "/../../../outside"}, "No such file"},
		{"shell", m{"command": "cat " + lib + "/.npmrc"}, "refused"},
		{"shell", m{"command": "echo x > " + lib + "/new.go"}, "Read-only"},
		{"shell", m{"command": "cat " + lib + "/link"}, "No such file"},
	} {
		a := b.call(t, c.tool, c.in)
		if !a.Result.Failed || !strings.Contains(a.Result.Text, c.want) || strings.Contains(a.Result.Text, "SECRET\n") || strings.Contains(a.Result.Text, "MIIE") {
			t.Errorf("%s %v: %+v", c.tool, c.in, a.Result)
		}
	}
	if got := b.good(t, "search_code", m{"pattern": "SECRET|_authToken", "path": cache}); !strings.Contains(got, "[no match]") {
		t.Errorf("got %q", got)
	}
}
