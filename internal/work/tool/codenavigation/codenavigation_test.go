package codenavigation

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/lsp/lsptest"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox/proc"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

func TestMain(m *testing.M) {
	if lsptest.RunIfServerProcess() {
		return
	}
	goleak.VerifyTestMain(m)
}

// stage is a session on a tree of its own.
type stage struct {
	*tool.ToolSet
	dir  string
	env  tool.AgentToolEnvironment
	done func()
}

// set begins a session whose toy language server is so.
func set(t *testing.T, how string, change func(e *tool.AgentToolEnvironment)) *stage {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	box, err := sandbox.FindSandbox(t.Context(), sandbox.ModeAuto)
	testenv.NeedMachine(t, "a sandbox", err)
	s := &stage{dir: t.TempDir()}
	for name, text := range map[string]string{"a.toy": "def one\ndef two one\nBAD one\n", "b.toy": "\xef\xbb\xbfone two\r\nthree\r\n", "x.txt": "one\n", "go.mod": "module x\n", "x.go": "package x\n\nvar a = f(b)\n"} {
		s.write(t, name, text)
	}
	s.env = tool.AgentToolEnvironment{Dir: s.dir, Box: box, Writes: true, Vars: sandbox.AgentCommandEnv(lsptest.EnvVar + "=" + how), Readable: []string{filepath.Dir(exe)}, Mark: "code-" + filepath.Base(filepath.Dir(s.dir))}
	if change != nil {
		change(&s.env)
	}
	if s.ToolSet, err = tool.NewToolSet(s.env, "read_file", "write_file", "edit_file"); err != nil {
		t.Fatal(err)
	}
	kit := AgentLanguageServers{Servers: ConfiguredServers(map[string]config.LanguageServerSettings{"toy": {Command: []string{exe}, Extensions: []string{".toy"}}, "gopls": {Off: true}})}
	for i := range kit.Servers {
		kit.Servers[i].Timeout = 5 * time.Second // of those that do not answer
	}
	s.done = kit.AddTool(t.Context(), s.ToolSet, s.env)
	t.Cleanup(func() { s.done(); s.Close() })
	return s
}

func (s *stage) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(s.dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func (s *stage) read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func (s *stage) ask(t *testing.T, input string) tool.CallOutcome {
	t.Helper()
	a := s.Answer(t.Context(), llm.ToolCall{ID: "c", Tool: toolName, Input: json.RawMessage(input)})
	if sanitize.RevealHidden(a.Result.Text) != a.Result.Text {
		t.Errorf("%s hides something: %q", input, a.Result.Text)
	}
	return a
}

// says calls and wants words in the answer.
func (s *stage) says(t *testing.T, input, want string, failed bool) string {
	t.Helper()
	a := s.ask(t, input)
	if !strings.Contains(a.Result.Text, want) || a.Result.Failed != failed {
		t.Errorf("%s: %q (failed %v), not %q", input, a.Result.Text, a.Result.Failed, want)
	}
	return a.Result.Text
}

func TestAsk(t *testing.T) {
	s := set(t, "good", nil)
	s.says(t, `{"op":"symbols","path":"a.toy"}`, "1-1 function one\n2-2 function two\n", false)
	s.says(t, `{"op":"symbols","name":"tw"}`, "a.toy:2: function two", false)
	s.says(t, `{"op":"definition","path":"b.toy","line":1,"name":"two"}`, "a.toy:2: def two one\n", false)
	s.says(t, `{"op":"references","name":"one"}`, "a.toy:1: def one\na.toy:2: def two one\na.toy:3: BAD one\nb.toy:1: one two\n", false)
	s.says(t, `{"op":"references","path":"a.toy","name":"one"}`, "b.toy:1", false)
	s.says(t, `{"op":"diagnostics","path":"a.toy"}`, "a.toy:3: error: this is bad", false)
	s.says(t, `{"op":"diagnostics","path":"b.toy"}`, "[no diagnostics]", false)

	// what cannot be asked is explained
	s.says(t, `{"op":"definition","path":"a.toy","line":1,"name":"two"}`, "two is not on line 1 of a.toy: def one", true)
	s.says(t, `{"op":"definition","path":"a.toy","line":99,"name":"two"}`, "a.toy has", true)
	s.says(t, `{"op":"definition","path":"x.txt","name":"one"}`, "no language server here knows the language of x.txt", true)
	s.says(t, `{"op":"definition","name":"nothing"}`, "nothing here is called nothing", true)
	s.says(t, `{"op":"definition","path":"a.toy"}`, "give the name as name", true)
	s.says(t, `{"op":"symbols"}`, "give a path, or a name", true)
	s.says(t, `{"op":"symbols","path":"../a.toy"}`, "outside the worktree", true)
	s.says(t, `{"op":"symbols","path":"c.toy"}`, "c.toy does not exist", true)
	s.says(t, `{"op":"explode"}`, "not valid", true)

	// it knows what the agent, and others, wrote meanwhile
	s.write(t, "c.toy", "def four one\n")
	s.write(t, "a.toy", "def one\n\ndef two one\n")
	s.says(t, `{"op":"references","name":"one"}`, "a.toy:3: def two one\nb.toy:1: one two\nc.toy:1: def four one\n", false)
	s.says(t, `{"op":"diagnostics","path":"a.toy"}`, "[no diagnostics]", false)
	if err := os.Remove(filepath.Join(s.dir, "a.toy")); err != nil {
		t.Fatal(err)
	}
	s.says(t, `{"op":"symbols","name":"one"}`, "[nothing found]", false)
}

func TestWrite(t *testing.T) {
	s := set(t, "good", nil)
	a := s.ask(t, `{"op":"rename","path":"a.toy","name":"one","to":"uno"}`)
	if a.Result.Failed || !a.Changed || !strings.Contains(a.Result.Text, "-BAD one\n+def uno\n") {
		t.Errorf("%+v", a)
	}
	if got := s.read(t, "a.toy"); got != "def uno\ndef two uno\nBAD uno\n" {
		t.Errorf("a.toy: %q", got)
	}
	if got := s.read(t, "b.toy"); got != "\xef\xbb\xbfuno two\r\nthree\r\n" { // its form is kept
		t.Errorf("b.toy: %q", got)
	}
	s.says(t, `{"op":"actions","path":"a.toy","line":3}`, "1 make it good (quickfix)\n", false)
	s.says(t, `{"op":"actions","path":"a.toy","line":3,"to":"make it fast"}`, `there is no "make it fast"`, true)
	s.says(t, `{"op":"actions","path":"a.toy","line":3,"to":"1"}`, "-BAD uno\n+GOOD uno\n", false)
	s.says(t, `{"op":"rename","path":"a.toy","name":"uno"}`, "give the new name as to", true)
	s.says(t, `{"op":"rename","path":"a.toy","name":"uno","to":"a b"}`, "refused (-32602): that is no name", true)
}

// TestRights sees that what a server would change is held to what the agent may
// write, and that all of it is changed or nothing.
func TestRights(t *testing.T) {
	reader := set(t, "good", func(e *tool.AgentToolEnvironment) { e.Writes = false })
	reader.says(t, `{"op":"references","name":"one"}`, "b.toy:1", false)
	for _, op := range []string{"rename", "actions", "replace"} {
		reader.says(t, `{"op":"`+op+`","path":"a.toy","name":"one","to":"uno"}`, "does not equal any of", true)
	}
	ruled := set(t, "good", func(e *tool.AgentToolEnvironment) {
		e.Rule = func(name string) error {
			if name == "b.toy" {
				return os.ErrPermission
			}
			return nil
		}
	})
	before := ruled.read(t, "a.toy")
	ruled.says(t, `{"op":"rename","path":"a.toy","name":"one","to":"uno"}`, "permission denied", true)
	if got := ruled.read(t, "a.toy"); got != before {
		t.Errorf("half of it was written: %q", got)
	}
	hidden := set(t, "good", nil)
	hidden.write(t, ".nexusignore", "b.toy\n")
	hidden.says(t, `{"op":"references","name":"one"}`, "[in a file that is hidden from agents]", false)
	hidden.says(t, `{"op":"rename","path":"a.toy","name":"one","to":"uno"}`, "path.ignored", true)
	hidden.says(t, `{"op":"symbols","path":"b.toy"}`, "path.ignored", true)
	if text := hidden.says(t, `{"op":"symbols","name":"one"}`, "a.toy", false); strings.Contains(text, "b.toy") {
		t.Errorf("the names in a hidden file are told: %q", text)
	}
}

func TestBadServers(t *testing.T) {
	for how, want := range map[string]string{
		"ends": "no configuration!", "hang": "did not answer in time; the next call starts it again", "dies": "fell over; the next call starts it again",
		"deaf": "did not answer in time", "liar": "not what was asked for",
	} {
		t.Run(how, func(t *testing.T) {
			s := set(t, how, nil)
			s.says(t, `{"op":"symbols","path":"a.toy"}`, want, true)
			if how == "liar" {
				return
			}
			s.says(t, `{"op":"symbols","path":"a.toy"}`, "it is not started again in this session", true)
			s.says(t, `{"op":"symbols","path":"a.toy"}`, "ended twice", true)
		})
	}
	s := set(t, "outside", nil)
	text := s.says(t, `{"op":"definition","path":"a.toy","name":"one"}`, "/etc/passwd:1: [outside the worktree]", false)
	if strings.Contains(text, "root") || !strings.Contains(text, "[in a file that is hidden from agents]") {
		t.Errorf("a file was read that the server named: %q", text)
	}
	s.says(t, `{"op":"rename","path":"a.toy","name":"one","to":"uno"}`, "outside the worktree", true)
	if !strings.Contains(s.read(t, "a.toy"), "one") {
		t.Error("half of it was written")
	}
	set(t, "hostile", nil).says(t, `{"op":"diagnostics","path":"a.toy"}`, "error: bad", false)
}

// TestOwned sees that a server starts when it is asked, cannot write to the
// tree, and is dead when the session ends.
func TestOwned(t *testing.T) {
	s := set(t, "good", nil)
	if n := proc.CountProcessesOf(s.env.Mark); n != 0 {
		t.Fatalf("%d processes run before anybody asked", n)
	}
	s.says(t, `{"op":"symbols","path":"a.toy"}`, "one", false)
	if proc.CountProcessesOf(s.env.Mark) == 0 {
		t.Error("it does not run")
	}
	s.done()
	if left := proc.CountProcessesOf(s.env.Mark); left != 0 {
		t.Errorf("%d of its processes run on", left)
	}
	s.says(t, `{"op":"symbols","path":"a.toy"}`, "", true)
}

// TestOffered sees that the tool is there only where somebody can be asked.
func TestOffered(t *testing.T) {
	box, err := sandbox.FindSandbox(t.Context(), sandbox.ModeAuto)
	testenv.NeedMachine(t, "a sandbox", err)
	for _, c := range []struct {
		file string
		vars []string
		want string
	}{
		{"a.txt", []string{"PATH=/nowhere"}, ""}, {"a.go", []string{"PATH=/nowhere"}, ""}, {"a.py", []string{"PATH=/nowhere"}, ""},
	} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, c.file), []byte("x\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		e := tool.AgentToolEnvironment{Dir: dir, Box: box, Writes: true, Vars: c.vars}
		s, err := tool.NewToolSet(e, "read_file")
		if err != nil {
			t.Fatal(err)
		}
		done := (&AgentLanguageServers{}).AddTool(t.Context(), s, e)
		specs := s.Specs()
		switch {
		case c.want == "" && len(specs) != 1:
			t.Errorf("%s: it is offered", c.file)
		case c.want != "" && (len(specs) != 2 || !strings.Contains(string(specs[1].Schema), c.want)):
			t.Errorf("%s: %+v", c.file, specs)
		}
		done()
		s.Close()
	}
	s := set(t, "good", nil).Specs()
	tool := s[len(s)-1]
	if n := len(tool.Name) + len(tool.Description) + len(tool.Schema); n > 800 {
		t.Errorf("it takes %d bytes of each request", n)
	}
}

func TestServersAreConfigured(t *testing.T) {
	all := ConfiguredServers(map[string]config.LanguageServerSettings{"gopls": {Command: []string{"mine", "-x"}}, "clangd": {Off: true}, "new": {Command: []string{"n"}, Extensions: []string{".py"}}})
	for _, s := range all {
		switch s.Name {
		case "gopls":
			if s.Commands[0][0] != "mine" || len(s.Commands) != 1 || !s.readsFile("a.go") {
				t.Errorf("%+v", s)
			}
		case "clangd":
			if s.CommandLine([]string{"PATH=/usr/bin:/usr/local/bin"}) != nil {
				t.Errorf("%+v", s)
			}
		case "pyright":
			if s.readsFile("a.py") || !s.readsFile("a.pyi") {
				t.Errorf("%+v", s)
			}
		case "new":
			if !s.readsFile("a.py") {
				t.Errorf("%+v", s)
			}
		}
	}
	for _, s := range builtinServers() {
		if len(s.Ends) == 0 || len(s.Commands) == 0 || s.Options != "" && !json.Valid([]byte(s.Options)) {
			t.Errorf("%+v", s)
		}
	}
	if FindOnPath([]string{"PATH=/usr/bin", "PATH=/nowhere"}, "env") != "" || FindOnPath([]string{"PATH=/usr/bin:"}, "env") == "" || FindOnPath(nil, "/usr/bin/env") == "" || FindOnPath([]string{"PATH=/usr/bin"}, "../bin/env") != "" {
		t.Error("programs are not looked for as they should be")
	}
}
