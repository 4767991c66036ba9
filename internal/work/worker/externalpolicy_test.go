package worker

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli/stream"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

// TestPermit holds another maker's agent to what holds for ours.
func TestPermit(t *testing.T) {
	box, err := sandbox.FindSandbox(t.Context(), sandbox.ModeOff)
	if err != nil {
		t.Fatal(err)
	}
	p := externalAgentPolicy{dir: "/tree", env: tool.AgentToolEnvironment{Box: box, Dir: "/tree", Rule: func(file string) error {
		if strings.HasSuffix(file, "_test.go") {
			return errors.New("tests are another's")
		}
		return nil
	}}}
	for name, c := range map[string]struct {
		tool, input string
		rule        string // that refuses; empty: it may
		says        string
	}{
		"reads a file":                        {"Read", `{"file_path": "/tree/a.go"}`, "", ""},
		"reads a test":                        {"Read", `{"file_path": "/tree/a_test.go"}`, "", ""},
		"reads outside":                       {"Read", `{"file_path": "/etc/hosts"}`, "", ""},
		"reads beside the tree":               {"Read", `{"file_path": "../x"}`, "", ""},
		"writes a file":                       {"Write", `{"file_path": "/tree/a.go"}`, "", ""},
		"writes a file by its name":           {"Edit", `{"file_path": "sub/a.go"}`, "", ""},
		"writes a test":                       {"Write", `{"file_path": "/tree/a_test.go"}`, "role.writes", "tests are another's"},
		"edits a test":                        {"Edit", `{"file_path": "sub/a_test.go"}`, "role.writes", "tests are another's"},
		"edits a test in several places":      {"MultiEdit", `{"file_path": "a_test.go"}`, "role.writes", ""},
		"edits a notebook that is a test":     {"NotebookEdit", `{"notebook_path": "/tree/a_test.go"}`, "role.writes", ""},
		"writes outside":                      {"Write", `{"file_path": "/etc/hosts"}`, "agent.outside", "/tree"},
		"writes beside the tree":              {"Write", `{"file_path": "../tree2/a"}`, "agent.outside", ""},
		"writes above through the tree":       {"Write", `{"file_path": "/tree/../x"}`, "agent.outside", ""},
		"writes to git":                       {"Write", `{"file_path": "/tree/.git/config"}`, "path.git", ""},
		"a second field is judged, too":       {"Write", `{"file_path": "/tree/a.go", "path": "/etc"}`, "agent.outside", ""},
		"a field of another type is none":     {"Write", `{"file_path": 3}`, "", ""},
		"a command that is not told":          {"Bash", `{"description": "rm"}`, "agent.command", "missing"},
		"asks somebody":                       {"AskUserQuestion", `{}`, "", ""},
		"leaves its plan":                     {"ExitPlanMode", `{}`, "agent.question", ""},
		"makes a plan":                        {"EnterPlanMode", `{}`, "agent.question", ""},
		"fetches":                             {"WebFetch", `{"url": "http://x"}`, "agent.network", "no network"},
		"searches the web":                    {"WebSearch", `{}`, "agent.network", ""},
		"calls a server of its own":           {"mcp__x__y", `{}`, "agent.mcp", ""},
		"uses a tool that is not known here":  {"TodoWrite", `{}`, "", ""},
		"searches, with a place that it may":  {"Grep", `{"path": "/tree/sub"}`, "", ""},
		"searches what belongs to git itself": {"Grep", `{"path": "/tree/.git/config"}`, "path.git", ""},
	} {
		j, why := p.judgeCall(t.Context(), stream.AgentToolCall{Tool: c.tool, Input: json.RawMessage(c.input)})
		if c.rule == "" {
			if why != "" || j.Refused || j.Decision != "allow" || j.By != "policy" {
				t.Errorf("%s: %+v, %q", name, j, why)
			}
			continue
		}
		if why == "" || !j.Refused || j.Decision != "deny" || !strings.HasPrefix(j.Rule, c.rule) || j.By != "policy" || !strings.Contains(why, c.says) {
			t.Errorf("%s: %+v, %q", name, j, why)
		}
	}
	// a command goes the way of our own agents' commands
	rm := stream.AgentToolCall{Tool: "Bash", Input: json.RawMessage(`{"command": "sudo rm -rf /"}`)}
	if j, why := p.judgeCall(t.Context(), rm); why == "" || !j.Refused {
		t.Errorf("%+v, %q", j, why)
	}
	ls := stream.AgentToolCall{Tool: "Bash", Input: json.RawMessage(`{"command": "ls"}`)}
	if j, why := p.judgeCall(t.Context(), ls); why != "" || j.Refused || j.Decision != "allow" {
		t.Errorf("%+v, %q", j, why)
	}
}

// TestRuleOf keeps from a role what its own row does, and what the strategy does.
func TestRuleOf(t *testing.T) {
	roles := testRoles(t)
	for _, c := range []struct {
		way  nexus.WritingStrategy
		role nexus.Role
		code bool // may it write code
		test bool // and tests
	}{
		{nexus.TestAfter, nexus.Coder, true, true},
		{nexus.TDDStrict, nexus.Coder, true, false},
		{nexus.TDDLite, nexus.Coder, true, true},
		{nexus.TestAfter, nexus.Tester, false, true},
		{nexus.TDDStrict, nexus.Tester, false, true},
		{nexus.TDDLite, nexus.Tester, true, true}, // stubs
		{nexus.TestAfter, nexus.Reviewer, false, false},
		{nexus.TDDLite, nexus.Verifier, false, false},
	} {
		rule := roleWriteRule(c.way, roles[c.role])
		for file, may := range map[string]bool{"add.go": c.code, "add_test.go": c.test} {
			var err error
			if rule != nil {
				err = rule(file)
			}
			if (err == nil) != may {
				t.Errorf("%s with %s writes %s: %v", c.role, c.way, file, err)
			}
		}
	}
	if unchangeableFilesRule(nil) != nil {
		t.Error("a task that keeps nothing keeps something")
	}
	keep := unchangeableFilesRule([]string{"check.sh"})
	if err := keep("check.sh"); err == nil || !strings.Contains(err.Error(), "check.sh") {
		t.Error(err)
	}
	if err := keep("other.sh"); err != nil {
		t.Error(err)
	}
}
