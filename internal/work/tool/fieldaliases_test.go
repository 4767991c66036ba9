package tool

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
)

// TestUsualNames makes calls in the words of other agents.
func TestUsualNames(t *testing.T) {
	b := newBench(t, func(e *AgentToolEnvironment) { e.Box = box(t) })
	b.write(t, "a.go", program)
	b.write(t, "internal/deep/helper.go", "package deep\n")
	for _, c := range []struct{ tool, input, says string }{
		{"read_file", `{"file_path":"a.go"}`, "package a"},
		{"read_file", `{"filePath":"a.go","offset":"3","limit":"1"}`, "func One"},
		{"read_file", `{"command":"view","path":"a.go","view_range":[4,-1]}`, "\treturn 1\n}\n\nfunc Two"},
		{"read_file", `{"path":"a.go","view_range":[7,8]}`, "func Two() int {\n\treturn 1\n\n[lines 7-8 of 9"},
		{"read_file", `{"target_file":"a.go","start_line":4,"end_line":4,"explanation":"to see"}`, "\treturn 1\n\n[lines 4-4 of 9"},
		{"read_file", `{"absolute_path":"a.go","offset":0,"limit":null}`, "package a"},
		{"read_file", `{"path":"a.go","line_numbers":"true","offset":3}`, "3\tfunc One() int {\n4\t\treturn 1\n"},
		{"edit_file", `{"file_path":"a.go","old_string":"One","new_string":"Uno","replace_all":false}`, "edited a.go: line 3 changed (before: 3)"},
		{"edit_file", `{"command":"str_replace","path":"a.go","old_str":"Uno","new_str":"Eins"}`, "line 3"},
		{"edit_file", `{"path":"a.go","edits":{"oldText":"Eins","newText":"Un"}}`, "line 3"},
		{"edit_file", `{"path":"a.go","edits":"[{\"search\":\"Un\",\"replace\":\"One\"}]"}`, "line 3"},
		{"edit_file", `{"path":"a.go","edits":[{"old_string":"return 1","new_string":"return 2","replace_all":"true"}],"replace_all":false}`, "line 4 changed (before: 4); line 8 changed (before: 8)"},
		{"write_file", `{"command":"create","path":"b.txt","file_text":"b\n"}`, "created b.txt"},
		{"write_file", `{"filename":"c.txt","contents":"c\n"}`, "created c.txt"},
		{"search_code", `{"query":"func two","case_sensitive":false,"include_pattern":"*.go"}`, "a.go:7:func Two"},
		{"search_code", `{"regex":"TWO","directory":".","-i":true,"-n":true}`, "a.go:7"},
		{"list_files", `{"pattern":"*.txt","recursive":true}`, "b.txt\nc.txt"},
		{"list_files", `{"dir_path":".","recursive":false}`, "internal/"},
		{"list_files", `{"path":".","max_depth":1,"maxDepth":1}`, "internal/"},
		{"shell", `{"cmd":"echo hello","description":"greet","timeout_ms":5500}`, "hello"},
		{"shell", `{"command":["bash","-lc","echo 'a  b'"],"cwd":"."}`, "a  b"},
		{"shell", `{"command":["echo","it's  $HOME"]}`, "it's  $HOME"},
	} {
		if got := b.good(t, c.tool, c.input); !strings.Contains(got, c.says) {
			t.Errorf("%s %s: %q", c.tool, c.input, got)
		}
	}
	// What could mean two things, or nothing, is refused, and the right names are said.
	for _, c := range []struct{ tool, input, says string }{
		{"read_file", `{"path":"a.go","file_path":"b.txt"}`, "path and another name for it differ"},
		{"search_code", `{"pattern":"two","case_sensitive":true,"caseSensitive":false}`, "caseSensitive and case_sensitive mean the same but differ"},
		{"read_file", `{"path":"a.go","encoding":"utf8"}`, `there is no "encoding"; read_file takes path (optional: limit, numbers, offset)`},
		{"read_file", `{}`, "path is missing; read_file takes path"},
		{"read_file", `{"path":"a.go","view_range":[3,4],"offset":2}`, "give offset and limit"},
		{"read_file", `{"path":"a.go","start_line":5,"end_line":3}`, "limit, how many"},
		{"read_file", `{"path":"a.go","start_line":"five","end_line":9}`, "limit, how many"},
		{"edit_file", `{"path":"a.go","edits":[{"old":"a","new":"b"}],"old_string":"c","new_string":"d"}`, "not both"},
		{"edit_file", `{"path":"a.go","edits":[{"old":"a","new":"b","line":3}]}`, `there is no "line"; each of edits takes old, new (optional: all)`},
		{"edit_file", `{"path":"a.go","new_string":"d"}`, "old is missing"},
		{"edit_file", `{"path":"a.go","old":"x","new":"y","expected_replacements":3}`, "expected_replacements"},
		{"shell", `{"command":"echo","timeout":120000}`, "timeout_seconds"},
		{"shell", `{"command":"echo","cwd":"internal"}`, `there is no "cwd"`},
		{"Bash", `{"command":"echo"}`, `there is no tool "Bash"; use shell`},
		{"read_file", `{"path":"a.go","view_range":[3,4],"end_line":4}`, "give offset and limit"},
		{"read_file", `{"path":"a.go","start_line":2,"end_line":-1,"limit":1}`, "limit, how many"},
		{"read_file", `{"path":"a.go","start_line":2,"end_line":3,"limit":1}`, "limit, how many"},
		{"search_code", `{"pattern":"x","case_sensitive":false,"ignore_case":false}`, `there is no "case_sensitive"`},
		{"list_files", `{"depth":2,"recursive":false}`, `there is no "recursive"`},
		{"shell", `{"command":"echo","timeout_ms":5000,"timeout_seconds":5}`, "give only timeout_seconds"},
		{"nothing", `{}`, "use one of read_file"},
		{"read_file", `{"path":"src/helper.go"}`, "there is internal/deep/helper.go"},
		{"read_file", `{"path":"internal/deep/helpr.go"}`, "internal/deep/helper.go"},
		{"edit_file", `{"path":"deep/Helper.ts","old":"a","new":"b"}`, "there is internal/deep/helper.go"},
	} {
		b.bad(t, c.tool, c.input, c.says)
	}
}

// TestUsual translates calls, and leaves those as they are that it cannot tell.
func TestUsual(t *testing.T) {
	for _, c := range []struct{ tool, input, want string }{
		{"shell", `{"command":"a","timeout_ms":5500}`, `{"command":"a","timeout_seconds":6}`},
		{"shell", `{"command":["echo",""]}`, `{"command":"echo ''"}`},
		{"git", `{"args":"log -1"}`, `{"args":["log","-1"]}`},
		{"git", `{"args":"log --format='%h %s'"}`, ""},
		{"read_file", `{"path":"a","limit":null}`, `{"path":"a"}`},
		{"read_file", `{"path":null,"offset":"2"}`, `{"offset":2,"path":null}`},
	} {
		if c.want == "" {
			c.want = c.input
		}
		if got := NormalizeCall(llm.ToolCall{Tool: c.tool, Input: json.RawMessage(c.input)}); string(got.Input) != c.want {
			t.Errorf("%s %s became %s, want %s", c.tool, c.input, got.Input, c.want)
		}
	}
}

// TestOnlyToolsThereAreNamed names no tool that the agent does not have.
func TestOnlyToolsThereAreNamed(t *testing.T) {
	s, err := NewToolSet(AgentToolEnvironment{Dir: t.TempDir()}, "read_file")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	bench{ToolSet: s}.bad(t, "bash", `{}`, "use one of read_file")
}

// TestNoAliasSlipsPastAJudge checks that what is judged is what is done, however
// a call names it.
func TestNoAliasSlipsPastAJudge(t *testing.T) {
	var asked []string
	b := newBench(t, func(e *AgentToolEnvironment) {
		e.Box = box(t)
		e.Rule = func(name string) error {
			if strings.HasSuffix(name, "_test.go") {
				return os.ErrPermission
			}
			return nil
		}
		e.Git = func(_ context.Context, args, _ []string) (string, error) {
			asked = append(asked, strings.Join(args, " "))
			return "did", nil
		}
	})
	b.write(t, "a_test.go", "package a\n")
	b.write(t, ".env", "KEY=very-secret-value-1\n")
	for _, c := range []struct{ tool, input, rule string }{
		{"write_file", `{"file_path":".git/hooks/pre-commit","contents":"x"}`, "path."},
		{"write_file", `{"filename":"../x","file_text":"x"}`, "path.outside"},
		{"write_file", `{"file-path":"a_test.go","text":"x"}`, "role.writes"},
		{"edit_file", `{"filePath":"a_test.go","old_string":"a","new_string":"b"}`, "role.writes"},
		{"edit_file", `{"path":"a_test.go","edits":"[{\"old_str\":\"a\",\"new_str\":\"b\"}]"}`, "role.writes"},
		{"read_file", `{"target_file":".env"}`, "path.secret"},
		{"shell", `{"cmd":"sudo rm -rf /"}`, ""},
		{"shell", `{"command":["bash","-c","sudo id"]}`, ""},
		{"shell", `{"command":["sudo","id"]}`, ""},
		{"git", `{"command":"git push origin main"}`, "git.read"},
		{"git", `{"args":"-c core.pager=id log"}`, "git.read"},
		{"git", `{"args":["git","git","log"]}`, "git.read"},
	} {
		a := b.call(t, c.tool, c.input)
		if !a.Result.Failed || !a.Judged.Refused || !strings.HasPrefix(a.Judged.Rule, c.rule) {
			t.Errorf("%s %s: %+v", c.tool, c.input, a)
		}
	}
	if b.read(t, "a_test.go") != "package a\n" || len(asked) > 0 {
		t.Errorf("it was written, or git was asked: %q", asked)
	}
	for input, want := range map[string]string{
		`{"cmd":"make all"}`: "make all", `{"command":["rm","a b"]}`: "rm 'a b'",
	} {
		if got := DescribeCall(llm.ToolCall{Tool: "shell", Input: json.RawMessage(input)}); got != want {
			t.Errorf("%s is told as %q", input, got)
		}
	}
	if got := DescribeCall(llm.ToolCall{Tool: "edit_file", Input: json.RawMessage(`{"file_path":"x.go","old_string":"a","new_string":"b"}`)}); got != "x.go" {
		t.Errorf("an edit is told as %q", got)
	}
	c := llm.ToolCall{Tool: "mcp__x__read_file", Input: json.RawMessage(`{"file_path":"a"}`)}
	if got := NormalizeCall(c); string(got.Input) != string(c.Input) {
		t.Errorf("a server's own names became %s", got.Input)
	}
}

// FuzzUsual holds that a call is translated once and for all, and that what
// judges it by [NormalizeCall] sees the very input that the tool gets.
func FuzzUsual(f *testing.F) {
	for _, s := range []string{
		`{"file_path":"a","view_range":["1",-1]}`, `{"cmd":["a","b c"],"timeout_ms":1}`, `{"path":"a","edits":"[{\"old_str\":\"a\",\"new_str\":\"b\"}]"}`,
		`{"old":"a","new":"b","edits":null,"replace_all":false}`, `{"args":"git log -1"}`, `{"query":"a","case_sensitive":false,"-n":true}`, `{"end_line":1e99}`,
	} {
		for _, tool := range []string{"read_file", "edit_file", "shell", "git", "search_code", "list_files"} {
			f.Add(tool, s)
		}
	}
	f.Fuzz(func(t *testing.T, tool, input string) {
		c := NormalizeCall(llm.ToolCall{Tool: tool, Input: json.RawMessage(input)})
		if again := NormalizeCall(c); string(again.Input) != string(c.Input) {
			t.Errorf("%s %s became %s, and that %s", tool, input, c.Input, again.Input)
		}
		for _, own := range builtinTools(AgentToolEnvironment{}) {
			if own.Name != tool {
				continue
			}
			schema, err := resolveSchema(own.Schema)
			if err != nil {
				t.Fatal(err)
			}
			if _, got, err := checkInput(tool, schema, json.RawMessage(input)); err == nil && string(got) != string(c.Input) {
				t.Errorf("%s %s is judged as %s and run as %s", tool, input, c.Input, got)
			}
		}
	})
}
