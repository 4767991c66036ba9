package acp

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
)

// TestJudged holds as what the policy judges the calls of different agents.
func TestJudged(t *testing.T) {
	for name, c := range map[string]struct {
		call reportedToolCall
		want []string
	}{
		"a command":             {reportedToolCall{kind: "execute", input: json.RawMessage(`{"command":"go test"}`)}, []string{`Bash {"command":"go test"}`}},
		"its words":             {reportedToolCall{kind: "execute", input: json.RawMessage(`{"command":["rm","a b"]}`)}, []string{`Bash {"command":"rm 'a b'"}`}},
		"a shell's":             {reportedToolCall{input: json.RawMessage(`{"command":["/bin/bash","-lc","rm a | b"]}`)}, []string{`Bash {"command":"rm a | b"}`}},
		"a title, as gemini's":  {reportedToolCall{kind: "execute", title: "rm a [current working directory /w] (clean up)"}, []string{`Bash {"command":"rm a"}`}},
		"a title in quotes":     {reportedToolCall{kind: "execute", title: "`rm a`"}, []string{`Bash {"command":"rm a"}`}},
		"a title of no command": {reportedToolCall{kind: "execute", title: "[current working directory /w] (show it)"}, []string{`Bash {"description":"[current working directory /w] (show it)"}`}},
		"files":                 {reportedToolCall{kind: "delete", paths: []string{"/a", "/b"}}, []string{`Edit {"file_path":"/a"}`, `Edit {"file_path":"/b"}`}},
		"a diff of any kind":    {reportedToolCall{kind: "other", diff: true, paths: []string{"/a"}}, []string{`Edit {"file_path":"/a"}`}},
		"a path of its input":   {reportedToolCall{kind: "read", input: json.RawMessage(`{"filePath":"/a","path":7}`)}, []string{`Read {"file_path":"/a"}`}},
		"a page":                {reportedToolCall{kind: "fetch", title: "http://x"}, []string{`WebFetch {"description":"http://x"}`}},
		"a server's tool":       {reportedToolCall{name: "mcp__x__y", title: "look"}, []string{`mcp__x__y {"description":"look"}`}},
	} {
		var got []string
		for _, one := range c.call.policyCalls() {
			got = append(got, one.Tool+" "+string(one.Input))
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// TestCalled holds how what an agent tells about a call in parts is put together:
// it is told once its input is known, and with what it changes.
func TestCalled(t *testing.T) {
	l := &agentConnection{busy: func() bool { return false }}
	q := newPromptTurn(&Agent{connection: l, id: "s"}, agentcli.AgentPrompt{})
	var got []string
	for _, part := range []string{
		`{"sessionUpdate":"tool_call","toolCallId":"c","title":"Edit","kind":"other","status":"pending","rawInput":{}}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c","rawInput":{"file":"a"},"content":[{"type":"diff","path":"/w/a","newText":"x"}]}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"in_progress"}`,
	} {
		events := q.parseSessionUpdate(json.RawMessage(`{"sessionId":"s","update":` + part + `}`))
		got = append(got, fmt.Sprint(len(events)))
	}
	for _, one := range q.calls["c"].policyCalls() {
		got = append(got, one.Tool+" "+string(one.Input))
	}
	done := q.parseSessionUpdate(json.RawMessage(`{"sessionId":"s","update":{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}}`))
	got = append(got, done[0].Text)
	if d := cmp.Diff([]string{"0", "1", "0", `Edit {"file_path":"/w/a"}`, "changed /w/a"}, got); d != "" {
		t.Error(d)
	}
}

// TestACommandThatNeverRanDidNotExitWith0, which would tell the agent that its
// tests passed.
func TestACommandThatNeverRanDidNotExitWith0(t *testing.T) {
	never := &agentTerminal{err: errors.New("there is no sandbox")}
	if s := never.exitStatus(); s["exitCode"] != nil || s["signal"] == nil {
		t.Errorf("it ended with %v", s)
	}
}

// TestOnlyKnownShellsAreTakenOff what they run: another program that is called
// like one may do anything with it.
func TestOnlyKnownShellsAreTakenOff(t *testing.T) {
	for program, want := range map[string]string{"/bin/bash": "ls", "sh": "ls", "./x.sh": "./x.sh -c ls", "ssh": "ssh -c ls", "fish": "fish -c ls"} {
		if got := shellCommandLine([]any{program, "-c", "ls"}); got != want {
			t.Errorf("%s is judged as %q", program, got)
		}
	}
}

// TestVariablesOfACommandAreJudgedWithIt: some decide which programs run.
func TestVariablesOfACommandAreJudgedWithIt(t *testing.T) {
	got, ok := withExports("ls", []commandEnvVariable{{"B", "x y"}, {"BASH_ENV", "a.sh"}})
	if want := "export B='x y'\nexport BASH_ENV=a.sh\nls"; !ok || got != want {
		t.Errorf("%q, %v", got, ok)
	}
	if got, ok := withExports("ls", []commandEnvVariable{{"A;touch x;B", "1"}}); ok {
		t.Errorf("no variable: %q", got)
	}
}
