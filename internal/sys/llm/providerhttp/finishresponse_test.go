package providerhttp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/providerhttp"
)

// answer is one whose calls come in order.
func answer(calls ...llm.ToolCall) llm.Response {
	r := llm.Response{Stop: llm.StopDone, Message: llm.Message{From: llm.Assistant}}
	for _, c := range calls {
		r.Message.Parts = append(r.Message.Parts, llm.MessagePart{Call: &c})
	}
	return r
}

// TestClose holds what is said about each way to make a call wrongly.
func TestClose(t *testing.T) {
	for input, want := range map[string]string{
		`{"path":"a"}`:                      "",
		" {\"path\":\"a\"}\n":               "",
		`{"a":1,"a":2}`:                     "",
		`{"path":"a`:                        `not whole JSON, it ends too early: "{\"path\":\"a"`,
		` `:                                 "it ends too early: nothing",
		`{"path":"a"}}`:                     `text after the JSON: "}"`,
		`{} {}`:                             `text after the JSON: "{}"`,
		`{"path":'a'}`:                      "is not JSON: invalid character '\\'' looking for beginning of value, at byte 9",
		"```json\n{}\n```":                  "is not JSON: invalid character '`'",
		`[1]`:                               `but not an object: "[1]"`,
		`"{\"path\":\"a\"}"`:                "but not an object",
		`null`:                              "but not an object",
		`12`:                                "but not an object",
		"{\"path\":\"" + "\x00" + "\"}":     "invalid character '\\x00' in string literal",
		"{" + strings.Repeat(" ", 4000):     "it ends too early",
		`{"a":"` + strings.Repeat("ä", 900): "[...]",
	} {
		got := providerhttp.FinishResponse(answer(llm.ToolCall{ID: "1", Tool: "t", Input: json.RawMessage(input)}), 3).ToolCalls()[0]
		if (got.Flaw == "") != (want == "") || !strings.Contains(got.Flaw, want) || len(got.Flaw) > 1500 {
			t.Errorf("%.100q: %q, want %q", input, got.Flaw, want)
		}
		if (string(got.Input) == input) != (want == "") {
			t.Errorf("%.100q is passed on as %s", input, got.Input)
		}
	}
	object := json.RawMessage("{}")
	got := providerhttp.FinishResponse(answer(llm.ToolCall{ID: "1", Tool: "a", Input: object}, llm.ToolCall{ID: "1", Tool: "b", Input: object},
		llm.ToolCall{Tool: "c", Input: object}, llm.ToolCall{ID: "2", Input: object}, llm.ToolCall{ID: "3", Tool: "ls -l/" + strings.Repeat("x", 99), Input: object}), 3)
	flaws := []string{"", "an earlier call of the same answer has the same id", "it has no id", "it names no tool", "no tool can be called"}
	for i, c := range got.ToolCalls() {
		if !strings.HasPrefix(c.Flaw, flaws[i]) || (c.Flaw == "") != (flaws[i] == "") {
			t.Errorf("%+v, want %q", c, flaws[i])
		}
	}
	if c := got.ToolCalls(); c[1].ID != "made-call-3-1" || c[3].Tool != "unnamed" || !strings.HasPrefix(c[4].Tool, "ls_-l_xxx") || got.Stop != llm.StopTools {
		t.Errorf("%+v", got)
	}
}

// FuzzClose checks that any calls can be run or sent back.
func FuzzClose(f *testing.F) {
	f.Add("1", "t", `{"a":1}`, "1", "", "{")
	f.Add("made-call-3-1", "t", `{}`, "", "t.x", "[]")
	f.Fuzz(func(t *testing.T, id1, tool1, input1, id2, tool2, input2 string) {
		r := providerhttp.FinishResponse(answer(llm.ToolCall{ID: id1, Tool: tool1, Input: json.RawMessage(input1)}, llm.ToolCall{ID: id2, Tool: tool2, Input: json.RawMessage(input2)}), 3)
		c := r.ToolCalls()
		if len(c) != 2 || c[0].ID == c[1].ID {
			t.Fatalf("%+v", c)
		}
		for i, c := range c {
			var object map[string]any
			if c.ID == "" || c.Tool == "" || json.Unmarshal(c.Input, &object) != nil || object == nil {
				t.Errorf("call %d: %+v", i, c)
			}
		}
	})
}

func TestMadeIDsDifferAfterACompaction(t *testing.T) {
	answer := func(id string) llm.Message {
		return llm.Message{From: llm.Assistant, Parts: []llm.MessagePart{{Call: &llm.ToolCall{ID: id, Tool: "read_file"}}}}
	}
	for _, prefix := range []string{"made-call-", "chat-call-", "gemini-call-"} {
		whole := llm.Request{Messages: []llm.Message{llm.UserMessage("Do it."), answer(prefix + "0-0"), llm.UserMessage("1"), answer(prefix + "1-0"), llm.UserMessage("2"), answer(prefix + "2-0"), llm.UserMessage("3")}}
		if n := providerhttp.AnswerNumber(whole); n != 3 {
			t.Errorf("step %d of a whole conversation", n)
		}
		short := llm.Request{Messages: append([]llm.Message{llm.UserMessage("What was done: much.")}, whole.Messages[5:]...)}
		if n := providerhttp.AnswerNumber(short); n != 3 {
			t.Errorf("%s: step %d after a compaction, which has been used", prefix, n)
		}
	}
	if n := providerhttp.AnswerNumber(llm.Request{Messages: []llm.Message{answer("x-call-99999999999-0"), answer("call_77")}}); n != 2 {
		t.Errorf("step %d after ids that only look like made ones", n)
	}
}
