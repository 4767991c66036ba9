package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
	"github.com/nexus-ai-builder/nexus/internal/work/tool/files"
)

// bench is a set of all tools on a fresh tree.
type bench struct {
	*ToolSet
	dir string
}

func newBench(t *testing.T, change func(*AgentToolEnvironment)) bench {
	t.Helper()
	dir := t.TempDir()
	e := AgentToolEnvironment{Dir: dir, Writes: true}
	if change != nil {
		change(&e)
	}
	s, err := NewToolSet(e, BuiltinToolNames()...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return bench{s, dir}
}

func (b bench) call(t *testing.T, tool string, input any) CallOutcome {
	t.Helper()
	data, ok := input.(string)
	if !ok {
		raw, err := json.Marshal(input)
		if err != nil {
			t.Fatal(err)
		}
		data = string(raw)
	}
	a := b.Answer(t.Context(), llm.ToolCall{ID: "c1", Tool: tool, Input: json.RawMessage(data)})
	if a.Result.ID != "c1" || a.Result.Text == "" {
		t.Errorf("%s %s: result %+v", tool, data, a.Result)
	}
	return a
}

// good runs a call that must succeed and returns its text.
func (b bench) good(t *testing.T, tool string, input any) string {
	t.Helper()
	a := b.call(t, tool, input)
	if a.Result.Failed {
		t.Fatalf("%s %v failed: %s", tool, input, a.Result.Text)
	}
	return a.Result.Text
}

// bad runs a call that must fail without a change and say something.
func (b bench) bad(t *testing.T, tool string, input any, says string) {
	t.Helper()
	a := b.call(t, tool, input)
	if !a.Result.Failed || a.Changed || a.Finished != nil || !strings.Contains(a.Result.Text, says) {
		t.Errorf("%s %v: want a failure with %q, got %+v", tool, input, says, a)
	}
}

func (b bench) write(t *testing.T, name, text string) {
	t.Helper()
	full := filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func (b bench) read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

type m map[string]any

func TestNew(t *testing.T) {
	if _, err := NewToolSet(AgentToolEnvironment{Dir: t.TempDir()}, "read_file", "launch"); err == nil || !strings.Contains(err.Error(), "launch") {
		t.Error(err)
	}
	if _, err := NewToolSet(AgentToolEnvironment{Dir: "/no/such/dir"}); err == nil {
		t.Error("opened a directory that is not there")
	}
	s, err := NewToolSet(AgentToolEnvironment{Dir: t.TempDir()}, "finish", "git", "read_file")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, spec := range s.Specs() {
		names = append(names, spec.Name)
	}
	if d := cmp.Diff([]string{"read_file", "git", "finish"}, names); d != "" {
		t.Error(d)
	}
	if s.ReadOnly("finish") || !s.ReadOnly("git") || s.ReadOnly("none") {
		t.Error("read-only is wrong")
	}
}

func TestSpecs(t *testing.T) {
	b := newBench(t, nil)
	first, err := json.Marshal(b.Specs())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes", len(first))
	if len(first) > 5600 {
		t.Errorf("the tools take %d bytes of each first prompt", len(first))
	}
	for _, s := range b.Specs() {
		if _, err := resolveSchema(s.Schema); err != nil {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
	if again, _ := json.Marshal(newBench(t, nil).Specs()); string(again) != string(first) {
		t.Error("not the same twice")
	}
}

func TestInput(t *testing.T) {
	b := newBench(t, nil)
	b.write(t, "a", "text\n")
	b.good(t, "read_file", `{"path":"a"}`)
	for input, says := range map[string]string{
		`{"path":"a","path":"b"}`:                "twice",
		`{"path":"a","PATH":"../b"}`:             "PATH",
		`{"path":"a","mode":1}`:                  "mode",
		`{}`:                                     "path",
		`{"path":7}`:                             "path",
		`{"path":"a","offset":-1}`:               "offset",
		`{"path":"a","offset":1.5}`:              "offset",
		`{"path":"a"} {}`:                        "after",
		`{"path":"a"`:                            "JSON",
		`[]`:                                     "object",
		``:                                       "JSON",
		strings.Repeat("[", 100_000):             "deep",
		`{"path":"` + "\xff" + `"}`:              "UTF-8",
		`{"path":"` + strings.Repeat("a", 9<<20): "maximum",
	} {
		b.bad(t, "read_file", input, says)
	}
	b.bad(t, "fly", `{}`, "read_file, write_file")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("told to stop"))
	a := b.Answer(ctx, llm.ToolCall{Tool: "read_file", Input: json.RawMessage(`{"path":"a"}`)})
	if !a.Result.Failed || !strings.Contains(a.Result.Text, "told to stop") {
		t.Errorf("ran after the end: %+v", a)
	}
}

func TestReadFile(t *testing.T) {
	b := newBench(t, nil)
	b.write(t, "dir/a.txt", "one\ntwo\nthree\n")
	b.write(t, "empty", "")
	b.write(t, "binary", "a\x00b")
	var long strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&long, "line %d\n", i+1)
	}
	b.write(t, "long", long.String())
	b.write(t, "wide", strings.Repeat("w", 100_000)+"\nend\n")
	for _, c := range []struct {
		in   m
		want string
	}{
		{m{"path": "dir/a.txt"}, "one\ntwo\nthree\n"},
		{m{"path": "./dir//a.txt"}, "one\ntwo\nthree\n"},
		{m{"path": filepath.Join(b.dir, "dir/a.txt")}, "one\ntwo\nthree\n"},
		{m{"path": "dir/a.txt", "offset": 2, "limit": 1}, "two\n\n[lines 2-2 of 3; continue with offset 3]"},
		{m{"path": "dir/a.txt", "offset": 3}, "three\n"},
		{m{"path": "empty"}, "[the file is empty]"},
		{m{"path": "long", "offset": 10_000}, "line 10000\n"},
	} {
		if got := b.good(t, "read_file", c.in); got != c.want {
			t.Errorf("%v: got %q", c.in, got)
		}
	}
	got := b.good(t, "read_file", m{"path": "long"})
	if !strings.HasPrefix(got, "line 1\n") || !strings.Contains(got, "of 10000; continue with offset") || len(got) > files.MaxAnswer {
		t.Errorf("long: %d bytes ending in %q", len(got), got[len(got)-60:])
	}
	// Reading on gives the whole file, line by line.
	var all strings.Builder
	for from := 1; from <= 10_000; {
		text := b.good(t, "read_file", m{"path": "long", "offset": from})
		text, _, _ = strings.Cut(text, "\n[lines")
		all.WriteString(text)
		from += strings.Count(text, "\n")
	}
	if all.String() != long.String() {
		t.Error("reading on loses lines")
	}
	if got := b.good(t, "read_file", m{"path": "wide"}); !strings.Contains(got, "line cut") || !strings.Contains(got, "offset 2") {
		t.Errorf("wide: ...%q", got[len(got)-60:])
	}
	b.bad(t, "read_file", m{"path": "binary"}, "binary")
	b.bad(t, "read_file", m{"path": "dir"}, "list_files")
	b.bad(t, "read_file", m{"path": "dir/A.go"}, "list_files")
	b.bad(t, "read_file", m{"path": "dir/a.txtx"}, "a.txt")
	b.bad(t, "read_file", m{"path": "dir/a.txt", "offset": 9}, "only 3 lines")
	b.bad(t, "read_file", m{"path": "dir/a.txt/b"}, "dir/a.txt/b")
}

// unsearched is said where a tree has a .env.
const unsearched = "\n[not searched, because their names suggest secrets: 1]"

func TestPaths(t *testing.T) {
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "secret"), []byte("s3cret"), 0o644); err != nil {
		t.Fatal(err)
	}
	b := newBench(t, nil)
	b.write(t, "in/ok", "ok\n")
	b.write(t, ".git/config", "s3cret")
	b.write(t, ".env", "s3cret")
	for link, target := range map[string]string{
		"out": outside, "file": filepath.Join(outside, "secret"), "up": "../" + filepath.Base(outside), "loop": "loop",
		"inner": "in", "etc": "/etc", "dotgit": ".git", "deep/git": "../dotgit", "deep/env": "../.env", "proc": "/proc", "root": "/proc/self/root",
		"chain": "out", "in/up": "../..",
	} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(b.dir, link)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(b.dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.good(t, "read_file", m{"path": "inner/ok"}); got != "ok\n" {
		t.Fatalf("control: %q", got)
	}
	twin := b.dir + "-evil"
	if err := os.MkdirAll(twin, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(twin) })
	for _, path := range []string{
		"../x", "in/../../x", "/etc/passwd", outside + "/secret", twin + "/x", b.dir + "/../x", "out/secret", "out/new", "file", "up/secret", "up/new",
		"loop", "etc/passwd", "out/../out/secret", ".git/config", ".git", "in/.git/config", ".GIT/config", ".git./config",
		".git /config", ".g\u200cit/config", "git~1/config", ".git::$INDEX_ALLOCATION/config", ".env", ".env.production", "nul\x00byte",
		"dotgit/config", "dotgit/hooks/pre-commit", "dotgit/new/x", "sub/../dotgit/config", "deep/git/config", "deep/env", ".GIT", ".gIt/hooks/x", ".Git/HEAD",
		".git/../.git/config", "in/../.git/config", "./.git/config", "/proc/self/environ", "/proc/self/root/etc/passwd", "proc/self/environ", "/dev/zero", "/dev/null",
		"root/etc/passwd", "chain/secret", "chain/new", "in/up/x", "//etc/passwd", "///etc/passwd", "in/../../../etc/passwd", strings.Repeat("../", 40) + "etc/passwd",
		strings.Repeat("a/", 5000) + "x", strings.Repeat("n", 300), "in\x00/ok", "GIT~1/config", ".git\u200c/config", ".git...", ".git/", "a/.git", "a/b/.git/config", "a/.git/hooks/post-checkout",
		".env.local", "in/.netrc", "in/id_rsa", "in/.git-credentials", ".ENV",
		"~/.ssh/id_rsa", "..", "../" + filepath.Base(b.dir) + "-evil/x",
	} {
		b.bad(t, "read_file", m{"path": path}, "")
		b.bad(t, "write_file", m{"path": path, "content": "x"}, "")
		b.bad(t, "edit_file", m{"path": path, "edits": []m{{"old": "s3cret", "new": "x"}}}, "")
	}
	b.bad(t, "list_files", m{"path": "out"}, "")
	b.bad(t, "list_files", m{"path": "../"}, "")
	b.bad(t, "search_code", m{"pattern": "s3cret", "path": "out"}, "")
	if got := b.good(t, "search_code", m{"pattern": "s3cret"}); got != "[no match]"+unsearched {
		t.Errorf("search: %q", got)
	}
	b.good(t, "write_file", m{"path": "inner/made/deep", "content": "x"}) // control: links within the tree lead on
	if b.read(t, "in/made/deep") != "x" || b.read(t, ".git/config") != "s3cret" {
		t.Error("written elsewhere")
	}
	if left, _ := os.ReadDir(filepath.Join(b.dir, ".git")); len(left) != 1 {
		t.Errorf(".git holds %v", left)
	}
	for _, path := range []string{".gitmodules", "sub/.GitModules", ".nexusignore", "nexus.toml", ".nexus/roles/coder.md", ".claude/settings.json", "sub/.mcp.json", ".CURSOR/x", "."} {
		b.bad(t, "write_file", m{"path": path, "content": "x"}, "")
	}
	if data, _ := os.ReadFile(filepath.Join(outside, "secret")); string(data) != "s3cret" {
		t.Errorf("outside holds %q", data)
	}
	if left, _ := os.ReadDir(outside); len(left) != 1 {
		t.Errorf("outside holds %v", left)
	}
	if left, _ := os.ReadDir(twin); len(left) != 0 {
		t.Errorf("the twin holds %v", left)
	}
}

// Pipes that nobody writes to are met everywhere: in the place of a file that is
// asked for, of one that says what is ignored, and of one found on the way. Nothing
// waits for them, with ripgrep's help or without.
func TestSpecialFilesDoNotHang(t *testing.T) {
	for name, change := range map[string]func(*AgentToolEnvironment){"own": nil, "box": func(e *AgentToolEnvironment) { e.Box = box(t) }} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, change)
			b.write(t, "sub/found.txt", "needle")
			for _, pipe := range []string{"pipe", ".gitignore", ".nexusignore", ".ignore", ".rgignore", "sub/.gitignore", "sub/.ignore", "sub/pipe.txt", "go.mod"} {
				if err := syscall.Mkfifo(filepath.Join(b.dir, pipe), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink("pipe", filepath.Join(b.dir, "link")); err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				b.bad(t, "read_file", m{"path": "pipe"}, "named pipe")
				b.bad(t, "read_file", m{"path": "link"}, "")
				b.bad(t, "write_file", m{"path": "pipe", "content": "x"}, "named pipe")
				b.bad(t, "edit_file", m{"path": "pipe", "edits": []m{{"old": "a", "new": "b"}}}, "named pipe")
				b.bad(t, "search_code", m{"pattern": "x", "path": "pipe"}, "named pipe")
				if got := b.good(t, "search_code", m{"pattern": "needle"}); !strings.Contains(got, "found.txt") {
					t.Errorf("search_code: %q", got)
				}
				b.good(t, "list_files", m{})
			}()
			select {
			case <-ended:
			case <-time.After(3 * time.Minute):
				t.Fatal("it waits for somebody to write to a pipe")
			}
		})
	}
}

func TestWriteFile(t *testing.T) {
	b := newBench(t, nil)
	if got := b.good(t, "write_file", m{"path": "a/b/c.txt", "content": "x\ny"}); got != "created a/b/c.txt: 2 lines" {
		t.Errorf("got %q", got)
	}
	script := filepath.Join(b.dir, "run.sh")
	b.write(t, "run.sh", "old")
	b.write(t, "twin", "old")
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(script, filepath.Join(b.dir, "hard")); err != nil {
		t.Fatal(err)
	}
	if got := b.good(t, "write_file", m{"path": "run.sh", "content": "new\n"}); got != "replaced run.sh: 1 lines\n@@ -1,1 +1,1 @@\n-old [no newline at the end]\n+new\n" {
		t.Errorf("got %q", got)
	}
	if info, _ := os.Stat(script); info.Mode().Perm() != 0o755 {
		t.Errorf("mode is %v", info.Mode())
	}
	if b.read(t, "run.sh") != "new\n" || b.read(t, "hard") != "old" {
		t.Error("wrote through a hard link")
	}
	if err := os.Symlink("twin", filepath.Join(b.dir, "soft")); err != nil {
		t.Fatal(err)
	}
	b.bad(t, "write_file", m{"path": "soft", "content": "x"}, "symbolic link to twin")
	b.bad(t, "write_file", m{"path": "a", "content": "x"}, "directory")
	b.bad(t, "write_file", m{"path": "twin/x", "content": "x"}, "")
	if left, _ := filepath.Glob(b.dir + "/.nexus-*"); left != nil {
		t.Errorf("left %q", left)
	}
	if a := b.call(t, "write_file", m{"path": "new", "content": ""}); !a.Changed {
		t.Error("does not say that it changed the tree")
	}
	reader := newBench(t, func(e *AgentToolEnvironment) { e.Writes = false })
	reader.write(t, "a", "old")
	reader.bad(t, "write_file", m{"path": "a", "content": "x"}, "only read")
	reader.bad(t, "edit_file", m{"path": "a", "edits": []m{{"old": "old", "new": "x"}}}, "only read")
	if reader.read(t, "a") != "old" {
		t.Error("a reader wrote")
	}
}

func TestListFiles(t *testing.T) {
	b := newBench(t, nil)
	for _, f := range []string{"main.go", "a/x.go", "a/x_test.go", "a/b/deep.go", ".git/HEAD", "out/bin", "a/skip.log", "a/keep.log", ".github/ci.yml"} {
		b.write(t, f, "x")
	}
	b.write(t, ".gitignore", "/out/\n*.log\n")
	b.write(t, "a/.gitignore", "!keep.log\n")
	for _, c := range []struct {
		in   m
		want string
	}{
		{m{}, ".github/ci.yml\n.gitignore\na/.gitignore\na/b/deep.go\na/keep.log\na/x.go\na/x_test.go\nmain.go\n"},
		{m{"path": "a"}, "a/.gitignore\na/b/deep.go\na/keep.log\na/x.go\na/x_test.go\n"},
		{m{"glob": "*_test.go"}, "a/x_test.go\n"},
		{m{"glob": "**/b/*.go"}, "a/b/deep.go\n"},
		{m{"path": "a", "glob": "b/*.go"}, "a/b/deep.go\n"},
		{m{"depth": 1}, ".github/\n.gitignore\na/\nmain.go\n"},
		{m{"glob": "*.rs"}, "[no files]"},
	} {
		if d := cmp.Diff(c.want, b.good(t, "list_files", c.in)); d != "" {
			t.Errorf("%v: %s", c.in, d)
		}
	}
	b.bad(t, "list_files", m{"glob": "[a"}, "glob")
	b.bad(t, "list_files", m{"path": "none"}, "none")
	for i := range 700 {
		b.write(t, fmt.Sprintf("many/%04d", i), "")
	}
	if got := b.good(t, "list_files", m{"path": "many"}); !strings.Contains(got, "[200 more") {
		t.Errorf("got ...%q", got[len(got)-80:])
	}
}

func TestSearchCode(t *testing.T) {
	for _, with := range []string{"ripgrep", "scan"} {
		t.Run(with, func(t *testing.T) {
			b := newBench(t, func(e *AgentToolEnvironment) {
				if with == "ripgrep" {
					testenv.NeedTool(t, "rg")
					e.Box = box(t)
				}
			})
			b.write(t, "z.go", "package z\nfunc Find() {}\n")
			b.write(t, "a/x.go", "package a\r\nfunc Find() {}\r\nfunc find() {}\r\n")
			b.write(t, "a/skip.log", "func Find() {}\n")
			b.write(t, "a/.hidden", "func Find() {}\n")
			b.write(t, ".gitignore", "*.log\n")
			b.write(t, ".ignore", "z.go\n")
			b.write(t, ".env", "func Find() {}\n")
			b.write(t, ".git/x", "func Find() {}\n")
			b.write(t, "binary", "func Find() {}\x00")
			b.write(t, "wide", "func Find() {}"+strings.Repeat("w", 5000)+"\n")
			b.write(t, "pre.go", "costs $5 (a+b)\n")
			for _, c := range []struct {
				in   m
				want string
			}{
				{m{"pattern": `func Find\(`, "glob": "*.go"}, "a/x.go:2:func Find() {}\nz.go:2:func Find() {}\n"},
				{m{"pattern": `func Find\(`, "path": "a"}, "a/.hidden:1:func Find() {}\na/x.go:2:func Find() {}\n"},
				{m{"pattern": `func Find\(`, "path": "z.go"}, "z.go:2:func Find() {}\n"},
				{m{"pattern": `FUNC find`, "ignore_case": true, "glob": "a/*.go"}, "a/x.go:2:func Find() {}\na/x.go:3:func find() {}\n"},
				{m{"pattern": "$5 (a+b)", "literal": true}, "pre.go:1:costs $5 (a+b)" + unsearched},
				{m{"pattern": "--pre=touch x"}, "[no match]" + unsearched},
				{m{"pattern": "nowhere"}, "[no match]" + unsearched},
				{m{"pattern": "func Find", "glob": ".env"}, "[no match]" + unsearched},
				{m{"pattern": "func Find", "glob": "**/x"}, "[no match]"},
			} {
				if d := cmp.Diff(c.want, b.good(t, "search_code", c.in)); d != "" {
					t.Errorf("%v: %s", c.in, d)
				}
			}
			if got := b.good(t, "search_code", m{"pattern": "Find", "glob": "wide"}); len(got) > 400 || !strings.HasSuffix(got, "...\n") {
				t.Errorf("wide: %d bytes", len(got))
			}
			b.bad(t, "search_code", m{"pattern": "a(b"}, "literal")
			b.bad(t, "search_code", m{"pattern": "a", "path": "none"}, "none")
			for i := range 30 {
				b.write(t, fmt.Sprintf("many/%02d", i), strings.Repeat("needle\n", 60))
			}
			got := b.good(t, "search_code", m{"pattern": "needle"})
			if strings.Count(got, "needle") != 200 || !strings.Contains(got, "[200 of 1800 matches in 30 files; narrow the pattern, path or glob. Not shown: many/00 10, many/01 10") || !strings.HasPrefix(got, "many/00:1:") {
				t.Errorf("%d hits, beginning %.20q", strings.Count(got, "needle"), got)
			}
		})
	}
}

func TestShell(t *testing.T) {
	var asked []string
	b := newBench(t, func(e *AgentToolEnvironment) {
		e.Box = box(t)
		e.Every, e.Agree = true, func(_ context.Context, command, reason string) error {
			asked = append(asked, command)
			if reason != "" {
				return errors.New("a person said: no")
			}
			return nil
		}
	})
	if got := b.good(t, "shell", m{"command": "echo hi; pwd; echo err >&2"}); got != "hi\n"+b.dir+"\nerr\n" {
		t.Errorf("got %q", got)
	}
	if got := b.good(t, "shell", m{"command": "true"}); got != "[exit 0, no output]" {
		t.Errorf("got %q", got)
	}
	a := b.call(t, "shell", m{"command": "echo no; exit 3"})
	if !a.Result.Failed || a.Result.Text != "no\n[exit 3]" || !a.Changed {
		t.Errorf("got %+v", a)
	}
	b.bad(t, "shell", m{"command": "rm -rf /"}, "tree.delete") // denied, whatever a person says
	b.bad(t, "shell", m{"command": "brew install frobnicate"}, "a person said: no")
	if len(asked) != 4 {
		t.Errorf("a person saw %q", asked)
	}
	a = b.call(t, "shell", m{"command": "sleep 100", "timeout_seconds": 1})
	if !a.Result.Failed || !strings.Contains(a.Result.Text, "killed after 1s") {
		t.Errorf("got %+v", a)
	}
	b.bad(t, "shell", m{"command": "true", "timeout_seconds": 100000}, "timeout_seconds")
	if got := b.good(t, "shell", m{"command": "seq 1 100000"}); len(got) > files.MaxAnswer+200 || !strings.HasPrefix(got, "1\n2\n") || !strings.HasSuffix(got, "99999\n100000\n") {
		t.Errorf("%d bytes", len(got))
	}
	b.good(t, "shell", m{"command": "echo made >made"})
	if b.read(t, "made") != "made\n" {
		t.Error("wrote nothing")
	}
	reader := newBench(t, func(e *AgentToolEnvironment) {
		e.Box, e.Writes = box(t), false
	})
	if a := reader.call(t, "shell", m{"command": "echo x >made"}); !a.Result.Failed || a.Changed {
		t.Errorf("a reader wrote: %+v", a)
	}
	newBench(t, nil).bad(t, "shell", m{"command": "true"}, "sandbox")
	strict := newBench(t, func(e *AgentToolEnvironment) { e.Box = box(t) })
	strict.good(t, "shell", m{"command": "mkdir -p a && echo x >a/b && cat a/b"})
	strict.bad(t, "shell", m{"command": "echo x; git push"}, "git.shared")
	strict.bad(t, "shell", m{"command": "brew install frobnicate"}, "installs what no lock file names")
	free := newBench(t, func(e *AgentToolEnvironment) {
		e.Box, e.Agree = box(t), func(_ context.Context, _, reason string) error {
			if !strings.Contains(reason, "installs what no lock file names") {
				t.Errorf("asked because of %q", reason)
			}
			return nil
		}
	})
	free.good(t, "shell", m{"command": "echo x >a"}) // nobody is asked about what is allowed
	free.bad(t, "shell", m{"command": "echo x; git push"}, "git.shared")
	if a := free.call(t, "shell", m{"command": "brew install frobnicate"}); !strings.Contains(a.Result.Text, "exit 127") {
		t.Errorf("agreed to, and not run: %+v", a.Result)
	}
}

func TestGit(t *testing.T) {
	var ran []string
	b := newBench(t, func(e *AgentToolEnvironment) {
		e.Git = func(_ context.Context, args, _ []string) (string, error) { ran = args; return "", nil }
	})
	if got := b.good(t, "git", m{"args": []string{"diff", "--stat", "HEAD~1", "--", "a.go"}}); got != "[no output]" {
		t.Errorf("got %q", got)
	}
	if d := cmp.Diff([]string{"diff", "--no-ext-diff", "--no-textconv", "--stat", "HEAD~1", "--", "a.go"}, ran); d != "" {
		t.Error(d)
	}
	ran = nil
	b.bad(t, "git", m{"args": []string{"push"}}, "begins with")
	b.bad(t, "git", m{"args": []string{}}, "")
	b.bad(t, "git", m{"args": []string{"diff", "--output=x"}}, "not for this tool")
	if ran != nil {
		t.Errorf("ran %q", ran)
	}
	newBench(t, nil).bad(t, "git", m{"args": []string{"status"}}, "no git")
}

func TestAskAndFinish(t *testing.T) {
	b := newBench(t, nil)
	if got := b.good(t, "ask", m{"question": "red or blue?", "fallback": "red"}); !strings.Contains(got, "red") {
		t.Errorf("got %q", got)
	}
	b = newBench(t, func(e *AgentToolEnvironment) {
		e.Ask = func(_ context.Context, q, f string) (string, error) { return q + f, nil }
	})
	if got := b.good(t, "ask", m{"question": "q", "fallback": "f"}); got != "qf" {
		t.Errorf("got %q", got)
	}
	a := b.call(t, "finish", `{"summary":"did it","status":"done"}`)
	if string(a.Finished) != `{"summary":"did it","status":"done"}` || a.Result.Failed {
		t.Errorf("got %+v", a)
	}
	b.bad(t, "finish", `{"summary":"did it","status":"great"}`, "status")
	b = newBench(t, func(e *AgentToolEnvironment) {
		e.Handin = json.RawMessage(`{"type":"object","properties":{"tasks":{"type":"array","minItems":1}},"required":["tasks"]}`)
	})
	b.bad(t, "finish", `{"tasks":[]}`, "tasks")
	if a := b.call(t, "finish", `{"tasks":[1]}`); string(a.Finished) != `{"tasks":[1]}` {
		t.Errorf("got %+v", a)
	}
}

func TestLongResultsAreKept(t *testing.T) {
	var kept inMemoryResultStore
	now := time.Unix(0, 0)
	b := newBench(t, func(e *AgentToolEnvironment) {
		e.Blob = &kept
		e.Now = func() time.Time { now = now.Add(time.Second); return now }
	})
	long := strings.Repeat("\u00e4 line\n", 10_000) + "it failed: error 7\n" + strings.Repeat("more\n", 10_000)
	b.Add(Tool{Name: "long", Schema: json.RawMessage(`{"type":"object"}`), Run: func(context.Context, json.RawMessage) (CallOutput, error) {
		return CallOutput{Text: long}, nil
	}})
	a := b.call(t, "long", `{}`)
	text := a.Result.Text
	if !strings.Contains(text, "1 of them look like errors, the first:\n10001: it failed: error 7\n") || len(text) > files.MaxAnswer+400 || a.Duration != time.Second {
		t.Errorf("%d shown, %v: %s", len(text), a.Duration, text[len(text)/2-200:len(text)/2+200])
	}
	if n := len(b.Specs()); n != len(BuiltinToolNames())+1 {
		t.Errorf("%d tools", n)
	}
	// The middle is there to be read on, also for the same agent in another process.
	b = newBench(t, func(e *AgentToolEnvironment) { e.Blob = &kept })
	_, rest, _ := strings.Cut(text, "with path ")
	handle, rest, _ := strings.Cut(rest, ", offset ")
	offset, _, _ := strings.Cut(rest, " ")
	from, err := strconv.Atoi(offset)
	if err != nil {
		t.Fatal(err)
	}
	whole := text[:strings.Index(text, "[lines")]
	for from <= 20_001 {
		part := b.good(t, "read_file", m{"path": handle, "offset": from})
		part, _, _ = strings.Cut(part, "\n[lines")
		whole += part
		from += strings.Count(part, "\n")
	}
	if whole != long {
		t.Error("what is read on is not what was cut")
	}
	if got := b.good(t, "search_code", m{"path": handle, "pattern": "fail"}); got != "10001:it failed: error 7\n" {
		t.Errorf("got %q", got)
	}
	b.bad(t, "read_file", m{"path": "@" + strings.Repeat("a", 64)}, "no longer stored")
	b.bad(t, "read_file", m{"path": "@nobody"}, "does not exist")
}

func TestAbout(t *testing.T) {
	for _, c := range []struct{ tool, input, want string }{
		{"shell", `{"command":"go test ./...\nrm x"}`, `go test ./...\nrm x`},
		{"shell", `{"command":"a\u001b[2J\u202eb\u200b"}`, `a\u{1b}[2J\u{202e}b\u{200b}`},
		{"read_file", `{"path":"a/b.go"}`, "a/b.go"},
		{"git", `{"args":["log","-1"]}`, "log -1"},
		{"search_code", `{"pattern":"x","path":"a"}`, "x a"},
		{"list_files", `{}`, "list_files"},
		{"read_file", `nonsense`, "read_file"},
		{"ask", `{"question":"q?"}`, "q?"},
		{"finish", `{"summary":"s"}`, "s"},
		{"shell", `{"command":"` + strings.Repeat("x", 200) + `"}`, strings.Repeat("x", 120) + "..."},
	} {
		if got := DescribeCall(llm.ToolCall{Tool: c.tool, Input: json.RawMessage(c.input)}); got != c.want {
			t.Errorf("%s %s: got %q", c.tool, c.input, got)
		}
	}
}

func TestReadersMayRunSideBySide(t *testing.T) {
	b := newBench(t, nil)
	b.write(t, "a.go", "package a\n")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for _, c := range []llm.ToolCall{
				{Tool: "read_file", Input: json.RawMessage(`{"path":"a.go"}`)},
				{Tool: "search_code", Input: json.RawMessage(`{"pattern":"package"}`)},
				{Tool: "list_files", Input: json.RawMessage(`{}`)},
			} {
				if a := b.Answer(t.Context(), c); a.Result.Failed {
					t.Error(a.Result.Text)
				}
			}
		})
	}
	all.Wait()
}
