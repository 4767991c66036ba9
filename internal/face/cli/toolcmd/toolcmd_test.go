package toolcmd_test

import (
	"encoding/json"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/toolcmd"
)

func TestFlags(t *testing.T) {
	clitest.CheckFlags(t, toolcmd.NewList, map[string]*toolcmd.ListOptions{"": {}, "--role coder --mcp": {Role: "coder", MCP: true}, "shell": nil})
	clitest.CheckFlags(t, toolcmd.NewCall, map[string]*toolcmd.CallOptions{
		"read_file {} --dir tree --role tester": {Tool: "read_file", Input: json.RawMessage("{}"), Dir: "tree", Role: "tester"},
		"read_file {}":                          {Tool: "read_file", Input: json.RawMessage("{}"), Role: "coder"},
		"read_file path":                        nil,
		"read_file":                             nil,
		"read_file {} {}":                       nil,
	})
}

// TestTools lists tools and calls them, with the rights of the role.
func TestTools(t *testing.T) {
	u := clitest.NewUser(t, map[string]string{"tree/x": ""})
	u.ExpectMatch(0, []string{"^tool\twhat it does", "^shell\t", "^write_file\t"}, toolcmd.New, "list")
	u.Expect(0, []string{`"name": "read_file"`, `"read_only": true`, `"writes": "`, `!"name": "write_file"`}, toolcmd.New, "list", "--role", "reviewer", "--json")
	u.ExpectMatch(0, []string{"^write_file$", `input: \{`}, toolcmd.New, "list", "--role", "coder")
	u.Expect(2, []string{`there is no role "boss"`}, toolcmd.New, "list", "--role", "boss")

	u.Expect(0, []string{`"changed": true`, `!"failed": true`}, toolcmd.New, "call", "write_file", `{"path": "a.txt", "content": "one\n"}`, "--dir", u.Dir+"/tree")
	if got := u.Read("tree/a.txt"); got != "one\n" {
		t.Errorf("a.txt is %q", got)
	}
	u.Expect(0, []string{`"failed": true`}, toolcmd.New, "call", "read_file", `{"path": "../a.txt"}`, "--dir", u.Dir+"/tree")
	u.Expect(0, []string{`"failed": true`}, toolcmd.New, "call", "write_file", `{"path": "b.txt", "content": ""}`, "--dir", u.Dir+"/tree", "--role", "reviewer")
	u.Expect(2, []string{"the input is not JSON", "README.md"}, toolcmd.New, "call", "read_file", "path")
	u.Expect(2, []string{"there is no directory", "--dir"}, toolcmd.New, "call", "read_file", "{}", "--dir", "/nowhere/at/all")
}
