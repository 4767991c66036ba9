package responses_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest/conform"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/responses"
)

// ask answers every request with the events and returns what was sent.
func ask(t *testing.T, r llm.Request, events ...string) (llm.Response, string, error) {
	t.Helper()
	var body string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		data, _ := io.ReadAll(q.Body)
		body = string(data)
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events {
			fmt.Fprintf(w, "data: %s\n\n", e)
		}
	}))
	defer s.Close()
	got, err := responses.NewProvider(responses.Config{Key: "k", BaseURL: s.URL + "/v1"}).Stream(t.Context(), r, nil)
	return got, body, err
}

func outputItem(s string) string {
	return `{"type":"response.output_item.done","output_index":0,"item":` + s + `}`
}

// final is the response that ends an answer with the items.
func final(items string) string {
	return `{"type":"response.completed","response":{"id":"r1","model":"m","output":[` + items + `],` + counts + `}}`
}

const (
	counts = `"usage":{"input_tokens":100,"output_tokens":7,"input_tokens_details":{"cached_tokens":60,"cache_write_tokens":30}}`
	done   = `{"type":"response.completed","response":{"id":"r1","model":"m",` + counts + `}}`
	sealed = `{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"h<m"}],"encrypted_content":"abc"}`
)

func TestRequest(t *testing.T) {
	for _, name := range []string{"API_KEY", "BASE_URL", "ORG_ID", "PROJECT_ID"} {
		t.Setenv("OPENAI_"+name, "http://127.0.0.1:1")
	}
	r := conform.NewRequest("c")
	r.Schema = json.RawMessage(`{"type":"object","properties":{},"required":[],"additionalProperties":false}`)
	r.Force, r.Effort = "read_file", "high"
	r.Messages = append(r.Messages,
		llm.Message{From: llm.Assistant, Parts: []llm.MessagePart{
			{Raw: json.RawMessage(`{"responses":` + sealed + `}`)},
			{Raw: json.RawMessage(`{"chat":{"reasoning_content":"not ours"}}`)},
			{Text: "I <look>"},
			{Call: &llm.ToolCall{ID: "1", Tool: "read_file", Input: json.RawMessage(`{"path":"<a>"}`)}},
		}},
		llm.Message{From: llm.User, Parts: []llm.MessagePart{{Text: "go on"}, {Result: &llm.ToolResult{ID: "1", Text: "a"}}}},
	)
	_, body, err := ask(t, r, done)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"model":"scripted","max_output_tokens":1000,"stream":true,"store":false,"include":["reasoning.encrypted_content"],` +
		`"reasoning":{"effort":"high","summary":"auto"},` +
		`"text":{"format":{"type":"json_schema","name":"answer","strict":true,"schema":` + string(r.Schema) + `}},` +
		`"tool_choice":{"name":"read_file","type":"function"},` +
		`"tools":[{"type":"function","name":"read_file","description":"reads <a> file","parameters":` + string(r.Tools[0].Schema) + `,"strict":false}],` +
		`"instructions":"You are the coder.","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":"Conversation: c\nDo the task."}]},` +
		sealed + `,{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I <look>"}]},` +
		`{"type":"function_call","call_id":"1","name":"read_file","arguments":"{\"path\":\"<a>\"}"},` +
		`{"type":"function_call_output","call_id":"1","output":"a"},{"type":"message","role":"user","content":[{"type":"input_text","text":"go on"}]}]}`
	if diff := cmp.Diff(want, body); diff != "" {
		t.Error(diff)
	}
}

func TestAnswer(t *testing.T) {
	text := outputItem(`{"type":"message","content":[{"type":"output_text","text":"ab"}]}`)
	for name, c := range map[string]struct {
		events []string
		stop   llm.StopReason
		parts  []llm.MessagePart
		class  llm.CallFailureClass
		code   string
		free   bool
		anon   bool // nothing says who answered
	}{
		"text": {events: []string{text, done}, stop: llm.StopDone, parts: []llm.MessagePart{{Text: "ab"}}},
		"sealed": {
			events: []string{outputItem(sealed), outputItem(`{"type":"function_call","call_id":"1","name":"t","arguments":""}`), done},
			stop:   llm.StopTools, parts: []llm.MessagePart{{Raw: json.RawMessage(`{"responses":` + sealed + `}`)}, {Call: &llm.ToolCall{ID: "1", Tool: "t", Input: json.RawMessage(`{}`)}}},
		},
		"not sealed": {events: []string{outputItem(`{"type":"reasoning","id":"rs_1","summary":[]}`), text, done}, stop: llm.StopDone, parts: []llm.MessagePart{{Text: "ab"}}},
		"refusal":    {events: []string{outputItem(`{"type":"message","content":[{"type":"refusal","refusal":"no"}]}`), done}, stop: llm.StopRefuse, parts: []llm.MessagePart{{Text: "no"}}},
		"length": {
			events: []string{
				`{"type":"response.output_text.delta","output_index":0,"delta":"a"}`,
				`{"type":"response.incomplete","response":{"id":"r1","model":"m","incomplete_details":{"reason":"max_output_tokens"},` + counts + `}}`,
			},
			stop: llm.StopLength, parts: []llm.MessagePart{{Text: "a"}},
		},
		"filter": {
			events: []string{text, `{"type":"response.incomplete","response":{"id":"r1","model":"m","incomplete_details":{"reason":"content_filter"},` + counts + `}}`},
			stop:   llm.StopRefuse, parts: []llm.MessagePart{{Text: "ab"}},
		},
		"failed":           {events: []string{text, `{"type":"response.failed","response":{"id":"r1","error":{"code":"server_error","message":"x"}}}`}, class: llm.Transient, code: "server_error"},
		"failed for money": {events: []string{`{"type":"response.failed","response":{"error":{"code":"insufficient_quota","message":"x"}}}`}, class: llm.Billing, code: "insufficient_quota"},
		"too long":         {events: []string{`{"type":"error","code":"context_length_exceeded","message":"x"}`}, class: llm.Context, code: "context_length_exceeded"},
		"a limit":          {events: []string{`{"type":"error","code":"rate_limit_exceeded","message":"x"}`}, class: llm.Quota, code: "rate_limit_exceeded"},
		"a proxy":          {events: []string{`{"error":{"code":502,"message":"x"}}`}, class: llm.Transient, code: "502"},
		"cut":              {events: []string{text}, class: llm.Transient, code: "incomplete"},
		"cut within":       {events: []string{`{"type":"response.output_text.delta","output_index":0,"delta":"a"}`, done}, class: llm.Transient, code: "incomplete"},
		"only at the end": {
			events: []string{final(`{"type":"message","content":[{"type":"output_text","text":"ab"}]},{"type":"function_call","call_id":"1","name":"t","arguments":"{}"}`)},
			stop:   llm.StopTools, parts: []llm.MessagePart{{Text: "ab"}, {Call: &llm.ToolCall{ID: "1", Tool: "t", Input: json.RawMessage(`{}`)}}},
		},
		"more at the end": {
			events: []string{text, final(`{"type":"message","content":[{"type":"output_text","text":"ab"}]},{"type":"function_call","call_id":"1","name":"t","arguments":"{}"}`)},
			stop:   llm.StopTools, parts: []llm.MessagePart{{Text: "ab"}, {Call: &llm.ToolCall{ID: "1", Tool: "t", Input: json.RawMessage(`{}`)}}},
		},
		"other at the end": {
			events: []string{`{"type":"response.output_text.delta","output_index":0,"delta":"x"}`, text, final(`{"type":"message","content":[{"type":"output_text","text":"abc"}]}`)},
			stop:   llm.StopDone, parts: []llm.MessagePart{{Text: "abc"}},
		},
		"hollow at the end": {
			events: []string{text, final(`{"type":"message","content":[]}`)}, stop: llm.StopDone, parts: []llm.MessagePart{{Text: "ab"}},
		},
		"refusal at the end": {events: []string{final(`{"type":"message","content":[{"type":"refusal","refusal":"no"}]}`)}, stop: llm.StopRefuse, parts: []llm.MessagePart{{Text: "no"}}},
		"refusal in pieces":  {events: []string{`{"type":"response.refusal.delta","output_index":0,"delta":"no"}`, done}, stop: llm.StopRefuse, parts: []llm.MessagePart{{Text: "no"}}},
		"refusal and no end": {
			events: []string{`{"type":"response.refusal.delta","output_index":0,"delta":"n"}`, `{"type":"response.refusal.done","output_index":0,"refusal":"no."}`},
			stop:   llm.StopRefuse, parts: []llm.MessagePart{{Text: "no."}}, free: true, anon: true,
		},
		"half a refusal": {events: []string{`{"type":"response.refusal.delta","output_index":0,"delta":"n"}`}, class: llm.Transient, code: "incomplete"},
		"texts and inputs that are done": {
			events: []string{
				`{"type":"response.output_text.delta","output_index":0,"delta":"x"}`, `{"type":"response.output_text.done","output_index":0,"text":"ab"}`,
				`{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","call_id":"1","name":"t"}}`,
				`{"type":"response.function_call_arguments.delta","output_index":1,"delta":"{}"}`, `{"type":"response.function_call_arguments.done","output_index":1,"arguments":"{ }"}`, done,
			},
			stop: llm.StopTools, parts: []llm.MessagePart{{Text: "ab"}, {Call: &llm.ToolCall{ID: "1", Tool: "t", Input: json.RawMessage(`{ }`)}}},
		},
		"a call without its end": {
			events: []string{text, `{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","call_id":"1","name":"t"}}`, done},
			class:  llm.Transient, code: "incomplete",
		},
		"no usage": {events: []string{text, `{"type":"response.completed","response":{"id":"r1","model":"m"}}`}, stop: llm.StopDone, parts: []llm.MessagePart{{Text: "ab"}}, free: true},
	} {
		t.Run(name, func(t *testing.T) {
			r := conform.NewRequest("c")
			got, _, err := ask(t, r, c.events...)
			if c.class != "" {
				if e, ok := errors.AsType[*llm.ModelCallError](err); !ok || e.Class != c.class || e.Code != c.code || len(got.Message.Parts) > 0 {
					t.Fatalf("%+v %v", got, err)
				}
				return
			}
			want := llm.Response{Message: llm.Message{From: llm.Assistant, Parts: c.parts}, Stop: c.stop, Model: "m", ID: "r1"}
			want.Usage = nexus.Usage{Input: 10, CacheRead: 60, CacheWrite: 30, Output: 7}
			if c.anon {
				want.Model, want.ID = "", ""
			}
			if c.anon {
				want.Usage, want.Estimated = llm.EstimateUsage(r, nexus.Usage{}, 1), true
			} else if c.free {
				want.Usage, want.Estimated = llm.EstimateUsage(r, nexus.Usage{}, len(`{"type":"message","content":[{"type":"output_text","text":"ab"}]}`)), true
			}
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Error(err, diff)
			}
		})
	}
}

func TestStrings(t *testing.T) {
	if s := fmt.Sprintf("%v %+v", responses.Config{Key: "secret", BaseURL: "u"}, responses.Config{Key: "secret"}); strings.Contains(s, "secret") {
		t.Error(s)
	}
}

// TestPhase sends back whether a text was the answer or came on the way to
// it, with the text that it was said about and no other.
func TestPhase(t *testing.T) {
	said := func(text, phase string) string {
		return outputItem(`{"type":"message","phase":` + phase + `,"content":[{"type":"output_text","text":"` + text + `"}]}`)
	}
	got, _, err := ask(t, conform.NewRequest("c"), said("I look.", `"commentary"`),
		outputItem(`{"type":"function_call","call_id":"1","name":"t","arguments":"{}"}`), said("No word.", "null"), said("It is so.", `"final_answer"`), done)
	if err != nil {
		t.Fatal(err)
	}
	if text := got.Message.Text(); text != "I look.No word.It is so." {
		t.Errorf("%q", text)
	}
	r := conform.NewRequest("c")
	r.Messages = append(r.Messages, got.Message, llm.Message{From: llm.User, Parts: []llm.MessagePart{{Result: &llm.ToolResult{ID: "1", Text: "a"}}}})
	_, body, err := ask(t, r, done)
	var sent struct {
		Input []struct{ Role, Phase, Type string }
	}
	if json.Unmarshal([]byte(body), &sent) != nil || err == nil && len(sent.Input) < 5 {
		t.Fatal(body, err)
	}
	n := len(sent.Input)
	want := []struct{ Role, Phase, Type string }{
		{"assistant", "commentary", "message"},
		{"", "", "function_call"},
		{"assistant", "", "message"},
		{"assistant", "final_answer", "message"},
		{"", "", "function_call_output"},
	}
	if d := cmp.Diff(want, sent.Input[n-5:]); d != "" {
		t.Errorf("%s\n%s", d, body)
	}
}
