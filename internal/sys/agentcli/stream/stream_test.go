package stream_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli/stream"
)

// decode reads a whole stream.
func decode(format, text string, exit int, stderr string) ([]stream.AgentEvent, stream.AgentPromptEnd) {
	d := stream.NewDecoder(format, "")
	var all []stream.AgentEvent
	for line := range strings.Lines(text) {
		all = append(all, d.DecodeLine([]byte(line))...)
	}
	return all, d.Close(exit, stderr)
}

// TestEnds shows how each prompt ended, whatever the exit code says.
func TestEnds(t *testing.T) {
	const opened = `{"type":"system","subtype":"init","session_id":"s","model":"m","claude_code_version":"2.1"}` + "\n"
	for name, c := range map[string]struct {
		format, text, stderr string
		exit                 int
		fault                nexus.AgentProgramFault
		said                 string
	}{
		"claude done":               {"claude", opened + `{"type":"result","subtype":"success","is_error":false,"result":"Done."}`, "", 0, "", "Done."},
		"claude exit 1 after done":  {"claude", opened + `{"type":"result","subtype":"success","is_error":false,"result":"Done."}`, "boom", 1, "", "Done."},
		"claude error with exit 0":  {"claude", opened + `{"type":"result","subtype":"success","is_error":true,"result":"API Error: 529 overloaded_error","terminal_reason":"api_error"}`, "", 0, nexus.FaultOverload, ""},
		"claude error, no is_error": {"claude", opened + `{"type":"result","subtype":"success","is_error":false,"result":"x","terminal_reason":"api_error"}`, "", 0, nexus.FaultOverload, ""},
		"claude login":              {"claude", opened + `{"type":"assistant","error":"authentication_failed","message":{"model":"<synthetic>","content":[{"type":"text","text":"Not logged in · Please run /login"}]}}` + "\n" + `{"type":"result","subtype":"success","is_error":true,"result":"Not logged in · Please run /login","terminal_reason":"api_error"}`, "", 1, nexus.FaultLogin, ""},
		"claude quota":              {"claude", opened + `{"type":"rate_limit_event","rate_limit_info":{"status":"rejected","resetsAt":1790000000,"utilization":1}}` + "\n" + `{"type":"result","subtype":"success","is_error":true,"result":"You've hit your limit"}`, "", 1, nexus.FaultQuota, ""},
		"claude turns":              {"claude", opened + `{"type":"result","subtype":"error_max_turns","is_error":true,"errors":["Reached maximum number of turns (1)"]}`, "", 1, nexus.FaultTurns, ""},
		"claude budget":             {"claude", opened + `{"type":"result","subtype":"error_max_budget_usd","is_error":true}`, "", 1, nexus.FaultBudget, ""},
		"claude lost":               {"claude", `{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["No conversation found with session ID: x"]}`, "No conversation found", 1, nexus.FaultLost, ""},
		"claude context":            {"claude", opened + `{"type":"result","subtype":"success","is_error":true,"result":"Prompt is too long"}`, "", 1, nexus.FaultContext, ""},
		"claude root":               {"claude", "", "--dangerously-skip-permissions cannot be used with root/sudo privileges", 1, nexus.FaultSetup, ""},
		"claude half a line":        {"claude", opened + `{"type":"result","subtype":"succ`, "", 0, nexus.FaultUnfinished, ""},
		"claude says nothing":       {"claude", "", "", 0, nexus.FaultUnfinished, ""},
		"claude garbage":            {"claude", "\x00\x01\nhello\n[1,2]\n", "", 0, nexus.FaultGarbage, ""},
		"claude another stream":     {"claude", `{"kind":"session","v":9}` + "\n" + `{"kind":"finished"}`, "", 0, nexus.FaultUnfinished, ""},
		"claude killed":             {"claude", opened, "", 137, nexus.FaultCrashed, ""},
		"codex done":                {"codex", `{"type":"thread.started","thread_id":"t"}` + "\n" + `{"type":"item.completed","item":{"id":"1","type":"agent_message","text":"Done."}}` + "\n" + `{"type":"turn.completed","usage":{"input_tokens":10,"cached_input_tokens":4,"output_tokens":3}}`, "", 0, "", "Done."},
		"codex notice, then done":   {"codex", `{"type":"error","message":"Reconnecting... 1/5"}` + "\n" + `{"type":"turn.completed"}`, "", 0, "", ""},
		"codex failed":              {"codex", `{"type":"turn.failed","error":{"message":"You've hit your usage limit."}}`, "", 1, nexus.FaultQuota, ""},
		"codex reconnects for ever": {"codex", `{"type":"error","message":"Reconnecting... 5/5 (stream disconnected)"}`, "", 137, nexus.FaultOverload, ""},
		"codex unknown argument":    {"codex", "", "error: unexpected argument '--full-auto' found", 2, nexus.FaultSetup, ""},
		"gemini done":               {"gemini", `{"type":"init","session_id":"g","model":"m"}` + "\n" + `{"type":"message","role":"assistant","content":"Do","delta":true}` + "\n" + `{"type":"message","role":"assistant","content":"ne.","delta":true}` + "\n" + `{"type":"result","status":"success","stats":{"input_tokens":9,"output_tokens":2,"cached":4}}`, "", 0, "", "Done."},
		"gemini no login":           {"gemini", "", "Please set an Auth method in your /home/ann/.gemini/settings.json", 41, nexus.FaultLogin, ""},
		"gemini error":              {"gemini", `{"type":"result","status":"error","error":{"type":"x","message":"RESOURCE_EXHAUSTED"}}`, "", 1, nexus.FaultQuota, ""},
		"opencode done":             {"opencode", `{"type":"text","sessionID":"o","part":{"text":"Done."}}` + "\n" + `{"type":"step_finish","sessionID":"o","part":{"reason":"stop","cost":0.5,"tokens":{"input":1,"output":2}}}`, "", 0, "", "Done."},
		"opencode cut off":          {"opencode", `{"type":"step_finish","sessionID":"o","part":{"reason":"tool-calls"}}`, "", 0, nexus.FaultUnfinished, ""},
		"opencode error":            {"opencode", `{"type":"error","sessionID":"o","error":{"name":"ProviderModelNotFoundError","data":{"message":"Model not found: x/y"}}}`, "", 1, nexus.FaultSetup, ""},
		"opencode error, exit 0":    {"opencode", `{"type":"error","sessionID":"o","error":{"name":"APIError","data":{"message":"odd"}}}`, "", 0, nexus.FaultCrashed, ""},
		"text done":                 {"text", "I did it.\n", "", 0, "", "I did it."},
		"text about a login":        {"text", "The server answers 401 Unauthorized.\nI test that.\n\nI build.\nIt fails.\n", "", 1, nexus.FaultCrashed, "The server answers 401 Unauthorized.\n\nI test that.\n\n\n\nI build.\n\nIt fails."},
		"text, login lost":          {"text", "I work.\nError: not logged in\nTry again.\n", "", 1, nexus.FaultLogin, "I work.\n\nError: not logged in\n\nTry again."},
		"text, login on stderr":     {"text", "I work.\nI test.\nI build.\n", "401 Unauthorized", 1, nexus.FaultLogin, "I work.\n\nI test.\n\nI build."},
		"text failed":               {"text", "", "nope", 3, nexus.FaultCrashed, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, end := decode(c.format, c.text, c.exit, c.stderr)
			if end.Fault != c.fault || c.said != "" && end.Text != c.said {
				t.Errorf("ended %q (%s), said %q", end.Fault, end.Why, end.Text)
			}
			if (end.Fault == "") != (end.Why == "") && c.stderr != "" && end.Fault != "" {
				t.Errorf("no reason for %q", end.Fault)
			}
		})
	}
}

// TestClaude reads a conversation with a call, a permission and a subagent.
func TestClaude(t *testing.T) {
	all, end := decode("claude", `{"type":"system","subtype":"status","session_id":"s"}
{"session_id":"s","type":"system","claude_code_version":"2.1.3","model":"opus","subtype":"init"}
{"type":"assistant","parent_tool_use_id":null,"message":{"id":"m1","content":[{"type":"text","text":"I edit."}],"usage":{"output_tokens":1}}}
{"type":"assistant","message":{"id":"m1","content":[{"type":"tool_use","id":"c1","name":"Edit","input":{"file_path":"a"}}]}}
{"type":"assistant","parent_tool_use_id":"c0","message":{"content":[{"type":"text","text":"of a subagent"}]}}
{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"},"tool_use_id":"c2"}}
{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c1","is_error":true,"content":[{"type":"text","text":"no"}]}]}}
{"type":"system","subtype":"init","session_id":"s","model":"opus"}
{"type":"rate_limit_event","rate_limit_info":{"status":"allowed_warning","resetsAt":1790000000,"utilization":0.83}}
{"type":"result","subtype":"success","is_error":false,"result":"Done.","total_cost_usd":0.0238,"usage":{"output_tokens":1},"modelUsage":{"a":{"inputTokens":200,"outputTokens":50,"cacheReadInputTokens":10000,"cacheCreationInputTokens":4000},"b":{"inputTokens":1}},"permission_denials":[{}]}
`, 0, "")
	want := []stream.AgentEvent{
		{Kind: stream.ConversationOpened, ID: "s", Model: "opus", Version: "2.1.3"},
		{Kind: stream.MessageSaid, Text: "I edit."},
		{Kind: stream.MessageSaid, Calls: []stream.AgentToolCall{{ID: "c1", Tool: "Edit", Input: json.RawMessage(`{"file_path":"a"}`)}}},
		{Kind: stream.PermissionAsked, ID: "r1", Calls: []stream.AgentToolCall{{ID: "c2", Tool: "Bash", Input: json.RawMessage(`{"command":"ls"}`)}}},
		{Kind: stream.CallAnswered, ID: "c1", Failed: true, Text: "no"},
		{Kind: stream.LimitReported, Window: "usage", Used: 83, Until: time.Unix(1790000000, 0).UTC()},
		{Kind: stream.PromptEnded, End: end},
	}
	if d := cmp.Diff(want, all); d != "" {
		t.Error(d)
	}
	if end.Usage != (nexus.Usage{Input: 201, Output: 50, CacheRead: 10000, CacheWrite: 4000}) || end.Money != 23_800_000 || !end.Total || end.Denied != 1 {
		t.Errorf("%+v", end)
	}
}

// TestCodex reads a command that fails and a change of files.
func TestCodex(t *testing.T) {
	all, end := decode("codex", `{"type":"thread.started","thread_id":"t"}
{"type":"item.started","item":{"id":"i0","type":"command_execution","command":"go test","status":"in_progress"}}
{"type":"item.completed","item":{"id":"i0","type":"command_execution","command":"go test","aggregated_output":"FAIL","exit_code":1,"status":"completed"}}
{"type":"item.completed","item":{"id":"i1","type":"file_change","changes":[{"path":"a.go","kind":"update"}],"status":"completed"}}
{"type":"turn.completed","usage":{"input_tokens":100,"cached_input_tokens":60,"cache_write_input_tokens":30,"output_tokens":7,"reasoning_output_tokens":5}}
`, 0, "")
	want := []stream.AgentEvent{
		{Kind: stream.ConversationOpened, ID: "t"},
		{Kind: stream.MessageSaid, Calls: []stream.AgentToolCall{{ID: "i0", Tool: "shell", Input: json.RawMessage(`{"command":"go test"}`)}}},
		{Kind: stream.CallAnswered, ID: "i0", Failed: true, Text: "FAIL"},
		{Kind: stream.MessageSaid, Calls: []stream.AgentToolCall{{ID: "i1", Tool: "edit", Input: json.RawMessage(`{"path":"a.go"}`)}}},
		{Kind: stream.CallAnswered, ID: "i1"},
		{Kind: stream.PromptEnded, End: end},
	}
	if d := cmp.Diff(want, all); d != "" {
		t.Error(d)
	}
	if end.Usage != (nexus.Usage{Input: 10, Output: 7, CacheRead: 60, CacheWrite: 30}) || !end.Total {
		t.Errorf("%+v", end)
	}
}

// TestSince tells what a prompt used from what its conversation did, for
// programs that count the whole of it and for those that do not.
func TestSince(t *testing.T) {
	used := func(n int64) nexus.Usage { return nexus.Usage{Input: n} }
	for name, c := range map[string]struct {
		end           stream.AgentPromptEnd
		money, spent  nexus.Money
		before, since int64
	}{
		"the first":              {stream.AgentPromptEnd{Total: true, Usage: used(100), Own: used(100), Money: 5}, 0, 5, 0, 100},
		"accumulates":            {stream.AgentPromptEnd{Total: true, Usage: used(300), Own: used(150), Money: 12}, 5, 7, 100, 200},
		"each for itself":        {stream.AgentPromptEnd{Total: true, Usage: used(100), Own: used(100), Money: 5}, 5, 5, 100, 100},
		"more, each for itself":  {stream.AgentPromptEnd{Total: true, Usage: used(180), Own: used(150), Money: 9}, 5, 9, 100, 180},
		"accumulates, no own":    {stream.AgentPromptEnd{Total: true, Usage: used(200)}, 0, 0, 100, 100},
		"less than before":       {stream.AgentPromptEnd{Total: true, Usage: used(50)}, 0, 0, 100, 50},
		"it says nothing":        {stream.AgentPromptEnd{Total: true}, 5, 0, 100, 0},
		"it never counts in all": {stream.AgentPromptEnd{Usage: used(50), Money: 3}, 5, 3, 100, 50},
		"a sum, tokens apart":    {stream.AgentPromptEnd{Total: true, Sum: true, Usage: used(50), Money: 8}, 5, 3, 100, 50},
		"a sum, and no tokens":   {stream.AgentPromptEnd{Total: true, Sum: true, Money: 8}, 5, 3, 100, 0},
		"a sum that starts anew": {stream.AgentPromptEnd{Total: true, Sum: true, Usage: used(200), Money: 3}, 5, 3, 100, 100},
	} {
		spent, total := c.end.UsedSince(c.money, used(c.before))
		if spent.Money != c.spent || spent.Usage.Input != c.since || total.Money != c.money+c.spent || total.Usage.Input != c.before+c.since {
			t.Errorf("%s: spent %d and %d, in all %d and %d", name, spent.Money, spent.Usage.Input, total.Money, total.Usage.Input)
		}
	}
}

// FuzzStream lets a program print anything: no decoder falls over, none invents
// tokens or money, and done is only what says so.
func FuzzStream(f *testing.F) {
	for _, s := range []string{
		`{"type":"result","subtype":"success"}`, `{"type":"assistant","message":{"content":"x"}}`, `{"type":"turn.completed","usage":{"input_tokens":-5}}`,
		`{"type":"result","status":"success","stats":{"cached":9}}`, `{"type":"done"}`, `{"type":"step_finish","part":{"reason":"stop","cost":-1}}`,
		`{"type":"user","message":{"content":[{"type":"tool_result","content":null}]}}`, `{"type":"rate_limit_event","rate_limit_info":{"resetsAt":1e300,"utilization":-1}}`,
		`{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","input":7}}`, "null", "[]", "\xff\n{",
		`{"type":"assistant.message","data":{"content":7,"toolRequests":[{}]}}`, `{"type":"result","exitCode":0}`, `{"type":"session.error","data":{"errorType":"quota"}}`,
		`{"type":"message","message":{"role":"assistant","content":[{"type":"toolRequest"},{"type":"toolResponse","toolResult":{"value":[{}]}}]}}`,
		`{"type":"complete","total_tokens":-1}`, "Tokens: 9999999999999999M sent, 1.1.1k received. Cost: $1e9 message, $9.9.9 session.", "litellm.XError",
	} {
		f.Add([]byte(s), 0)
	}
	f.Fuzz(func(t *testing.T, data []byte, exit int) {
		for _, format := range stream.FormatNames() {
			d := stream.NewDecoder(format, "")
			for line := range bytes.Lines(data) {
				for _, e := range d.DecodeLine(line) {
					for _, c := range e.Calls {
						if !json.Valid(c.Input) || c.Input[0] != '{' {
							t.Errorf("%s: input %q", format, c.Input)
						}
					}
				}
			}
			end := d.Close(exit, "")
			if u := end.Usage; u.Input < 0 || u.Output < 0 || u.CacheRead < 0 || u.CacheWrite < 0 || end.Money < 0 {
				t.Errorf("%s: %+v", format, end)
			}
			if format != "text" && format != "aider" && format != "crush" && end.Fault == "" && !bytes.Contains(data, []byte("{")) {
				t.Errorf("%s: done without an object", format)
			}
		}
	})
}

// BenchmarkLine is what a message costs.
func BenchmarkLine(b *testing.B) {
	line := []byte(`{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"c1","content":"` + strings.Repeat("some output of a tool\\n", 400) + `"}]}}`)
	d := stream.NewDecoder("claude", "")
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		d.DecodeLine(line)
	}
}
