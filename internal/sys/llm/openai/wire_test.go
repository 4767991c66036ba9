package openai_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest/conform"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/openai"
)

// server answers every request with the same words and keeps what it got.
type server struct {
	*httptest.Server
	body   string
	header http.Header
	path   string
}

func serve(t *testing.T, status int, kind, answer string) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		s.body, s.header, s.path = string(data), r.Header, r.URL.Path
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Location", "http://127.0.0.1:1/elsewhere")
		w.WriteHeader(status)
		fmt.Fprint(w, answer)
	}))
	t.Cleanup(s.Close)
	return s
}

func ask(t *testing.T, s *server, c openai.Config, r llm.Request) (llm.Response, error) {
	t.Helper()
	c.BaseURL = s.URL + "/v1"
	return openai.NewProvider(c).Stream(t.Context(), r, nil)
}

// stream makes chunks of deltas, each with the reason behind a "|".
func stream(deltas ...string) string {
	var b strings.Builder
	for _, d := range deltas {
		if strings.HasPrefix(d, "!") {
			fmt.Fprintf(&b, "data: %s\n\n", d[1:])
			continue
		}
		delta, reason, _ := strings.Cut(d, "|")
		end := "null"
		if reason != "" {
			end = `"` + reason + `"`
		}
		fmt.Fprintf(&b, `data: {"id":"c1","model":"m","choices":[{"index":0,"delta":%s,"finish_reason":%s}]}`+"\n\n", delta, end)
	}
	return b.String()
}

const (
	done      = "![DONE]"
	chatUsage = `!{"id":"c1","model":"m","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":60,"cache_write_tokens":30}}}`
)

func flawed(id, tool, flaw string) []llm.MessagePart {
	return []llm.MessagePart{{Call: &llm.ToolCall{ID: id, Tool: tool, Input: json.RawMessage("{}"), Flaw: flaw}}}
}

func TestRequest(t *testing.T) {
	for _, name := range []string{"API_KEY", "BASE_URL", "ORG_ID", "PROJECT_ID", "CUSTOM_HEADERS"} {
		t.Setenv("OPENAI_"+name, "X-Leak: http://127.0.0.1:1")
	}
	s := serve(t, 200, "text/event-stream", stream("{}|stop", chatUsage, done))
	r := conform.NewRequest("c")
	r.Schema = json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`)
	r.Messages = append(r.Messages,
		llm.Message{From: llm.Assistant, Parts: []llm.MessagePart{
			{Raw: json.RawMessage(`{"chat":{"reasoning_content":"hm","extra_content":{"2":{"google":{"thought_signature":"s"}}}}}`)},
			{Raw: json.RawMessage(`{"type":"thinking","thinking":"not ours"}`)},
			{Text: "I <look>"},
			{Call: &llm.ToolCall{ID: "1", Tool: "read_file", Input: json.RawMessage(`{"path":"<a>"}`)}},
			{Call: &llm.ToolCall{ID: "2", Tool: "read_file", Input: json.RawMessage(`{}`)}},
		}},
		llm.Message{From: llm.User, Parts: []llm.MessagePart{
			{Text: "go on"}, {Result: &llm.ToolResult{ID: "1"}}, {Result: &llm.ToolResult{ID: "2", Text: "b", Failed: true}},
		}},
		llm.Message{From: llm.Assistant},
	)
	if _, err := ask(t, s, openai.Config{Key: "k", Effort: "low"}, r); err != nil {
		t.Fatal(err)
	}
	want := `{"model":"scripted","max_tokens":1000,"stream":true,"stream_options":{"include_usage":true},"reasoning_effort":"low",` +
		`"response_format":{"type":"json_schema","json_schema":{"name":"answer","strict":true,"schema":` + string(r.Schema) + `}},` +
		`"tools":[{"type":"function","function":{"name":"read_file","description":"reads <a> file","parameters":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}}],` +
		`"messages":[{"role":"system","content":"You are the coder."},{"role":"user","content":"Conversation: c\nDo the task."},` +
		`{"role":"assistant","content":"I <look>","reasoning_content":"hm","tool_calls":[` +
		`{"id":"1","type":"function","function":{"name":"read_file","arguments":"{\"path\":\"<a>\"}"}},` +
		`{"id":"2","type":"function","function":{"name":"read_file","arguments":"{}"},"extra_content":{"google":{"thought_signature":"s"}}}]},` +
		`{"role":"tool","tool_call_id":"1","content":""},{"role":"tool","tool_call_id":"2","content":"b"},{"role":"user","content":"go on"}]}`
	if diff := cmp.Diff(want, s.body); diff != "" {
		t.Error(diff)
	}
	if s.path != "/v1/chat/completions" || s.header.Get("Authorization") != "Bearer k" || s.header.Get("X-Leak") != "" ||
		s.header.Get("OpenAI-Organization") != "" {
		t.Errorf("%s %v", s.path, s.header)
	}
	r.Schema = json.RawMessage(`{"type":"object","properties":{"a":{"type":"object"}},"required":["a"],"additionalProperties":false}`)
	r.Model = "gpt-6-sol"
	if _, err := ask(t, s, openai.Config{}, r); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(s.body, "strict") || !strings.Contains(s.body, `"max_completion_tokens":1000`) || s.header.Get("Authorization") != "" {
		t.Error(s.body, s.header)
	}
}

func TestAnswer(t *testing.T) {
	counted := nexus.Usage{Input: 10, CacheRead: 60, CacheWrite: 30, Output: 7}
	call := func(id, tool, input string) llm.MessagePart {
		return llm.MessagePart{Call: &llm.ToolCall{ID: id, Tool: tool, Input: json.RawMessage(input)}}
	}
	raw := func(s string) llm.MessagePart { return llm.MessagePart{Raw: json.RawMessage(s)} }
	for name, c := range map[string]struct {
		events []string
		stop   llm.StopReason
		parts  []llm.MessagePart
		class  llm.CallFailureClass
		free   bool // the server does not tell the usage
	}{
		"text": {events: []string{`{"role":"assistant","content":""}`, `{"content":"a"}`, `{"content":"b"}|stop`, chatUsage, done}, stop: llm.StopDone, parts: []llm.MessagePart{{Text: "ab"}}},
		"interleaved": {
			events: []string{
				`{"tool_calls":[{"index":0,"id":"1","function":{"name":"t","arguments":""}},{"index":1,"id":"2","function":{"name":"u"}}]}`,
				`{"tool_calls":[{"index":1,"function":{"arguments":"{\"b\""}}]}`, `{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}`,
				`{"tool_calls":[{"index":1,"function":{"arguments":":2}"}}]}`, `{}|tool_calls`, chatUsage, done,
			},
			stop: llm.StopTools, parts: []llm.MessagePart{call("1", "t", "{}"), call("2", "u", `{"b":2}`)},
		},
		"one index for all": {
			events: []string{
				`{"tool_calls":[{"index":0,"id":"1","function":{"name":"t","arguments":"{\"a\":1}"}}]}`,
				`{"tool_calls":[{"index":0,"id":"2","function":{"name":"t","arguments":"{\"a\":2}"}}]}|stop`, chatUsage, done,
			},
			stop: llm.StopTools, parts: []llm.MessagePart{call("1", "t", `{"a":1}`), call("2", "t", `{"a":2}`)},
		},
		"one id for two tools": {
			events: []string{
				`{"tool_calls":[{"index":0,"id":"1","function":{"name":"t","arguments":""}}]}`,
				`{"tool_calls":[{"index":0,"id":"1","function":{"name":"u","arguments":"{\"a\":2}"}}]}|stop`, chatUsage, done,
			},
			stop: llm.StopTools, parts: append([]llm.MessagePart{call("1", "t", `{}`)}, flawed("made-call-0-1", "u", "an earlier call of the same answer has the same id")...),
		},
		"one id for two calls": {
			events: []string{
				`{"tool_calls":[{"index":0,"id":"1","function":{"name":"t","arguments":"{\"a\":"}},{"index":0,"id":"1","function":{"name":"t","arguments":"1}"}}]}`,
				`{"tool_calls":[{"index":0,"id":"1","function":{"name":"t","arguments":"{\"a\":2}"}}]}|stop`, chatUsage, done,
			},
			stop: llm.StopTools, parts: append([]llm.MessagePart{call("1", "t", `{"a":1}`)}, flawed("made-call-0-1", "t", "an earlier call of the same answer has the same id")...),
		},
		"input that is an object": {
			events: []string{`{"tool_calls":[{"index":0,"id":"1","function":{"name":"t","arguments":{"a":1}}}]}|tool_calls`, chatUsage, done},
			stop:   llm.StopTools, parts: []llm.MessagePart{call("1", "t", `{"a":1}`)},
		},
		"no input": {
			events: []string{`{"tool_calls":[{"index":0,"id":"1","function":{"name":"t"}}]}|tool_calls`, chatUsage, done},
			stop:   llm.StopTools, parts: []llm.MessagePart{call("1", "t", `{}`)},
		},
		"input that is a list": {
			events: []string{`{"tool_calls":[{"index":0,"id":"1","function":{"name":"t","arguments":"[1]"}}]}|tool_calls`, chatUsage, done},
			stop:   llm.StopTools, parts: flawed("1", "t", `its input is JSON, but not an object: "[1]"`),
		},
		"no tool": {
			events: []string{`{"tool_calls":[{"index":0,"id":"1","function":{"arguments":"{}"}}]}|tool_calls`, chatUsage, done},
			stop:   llm.StopTools, parts: flawed("1", "unnamed", "it names no tool"),
		},
		"no usage":        {events: []string{`{"content":"abc"}|stop`, done}, stop: llm.StopDone, parts: []llm.MessagePart{{Text: "abc"}}, free: true},
		"no formal end":   {events: []string{`{"content":"abc"}|stop`}, stop: llm.StopDone, parts: []llm.MessagePart{{Text: "abc"}}, free: true},
		"another choice":  {events: []string{`{"content":"a"}|stop`, `!{"choices":[{"index":1,"delta":{"content":"no"}}]}`, chatUsage, done}, stop: llm.StopDone, parts: []llm.MessagePart{{Text: "a"}}},
		"length":          {events: []string{`{"content":"a","tool_calls":[{"index":0,"id":"1","function":{"name":"t","arguments":"{}"}}]}|length`, chatUsage, done}, stop: llm.StopLength, parts: []llm.MessagePart{{Text: "a"}}},
		"filter":          {events: []string{`{"content":"a"}|content_filter`, chatUsage, done}, stop: llm.StopRefuse, parts: []llm.MessagePart{{Text: "a"}}},
		"refusal":         {events: []string{`{"refusal":"no"}|stop`, chatUsage, done}, stop: llm.StopRefuse, parts: []llm.MessagePart{{Text: "no"}}},
		"no reason":       {events: []string{`{"content":"a"}`, done}, class: llm.Transient},
		"error as string": {events: []string{`{"content":"a"}`, `!{"error":"it broke"}`}, class: llm.Transient},
		"error with code": {events: []string{`!{"error":{"code":429,"message":"x"}}`}, class: llm.Quota},
		"null error":      {events: []string{`!{"error":null,"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}],"id":"c1","model":"m"}`, chatUsage, done}, stop: llm.StopDone, parts: []llm.MessagePart{{Text: "a"}}},
		"not JSON":        {events: []string{`!{"choices":[`}, class: llm.Transient},
		"raw": {
			events: []string{
				`{"reasoning_content":"<h"}`, `{"reasoning_content":"m>"}`, `{"reasoning_details":[{"type":"x","n":1}]}`, `{"reasoning_details":[{"n":2}]}`,
				`{"tool_calls":[{"index":0,"id":"1","function":{"name":"t"},"extra_content":{"google":1}}]}|tool_calls`, chatUsage, done,
			},
			stop: llm.StopTools, parts: []llm.MessagePart{
				raw(`{"chat":{"reasoning_content":"<hm>","reasoning_details":[{"type":"x","n":1},{"n":2}],"extra_content":{"1":{"google":1}}}}`),
				call("1", "t", `{}`),
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := conform.NewRequest("c")
			got, err := ask(t, serve(t, 200, "text/event-stream", stream(c.events...)), openai.Config{}, r)
			if c.class != "" {
				if e, ok := errors.AsType[*llm.ModelCallError](err); !ok || e.Class != c.class || len(got.Message.Parts) > 0 {
					t.Fatalf("%+v %v", got, err)
				}
				return
			}
			want := llm.Response{Message: llm.Message{From: llm.Assistant, Parts: c.parts}, Stop: c.stop, Usage: counted, Model: "m", ID: "c1"}
			if c.free {
				want.Usage, want.Estimated = llm.EstimateUsage(r, nexus.Usage{}, 3), true
			}
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Error(err, diff)
			}
		})
	}
}

func TestRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		status       int
		kind, answer string
		want         llm.CallFailureClass
	}{
		"redirect":     {307, "text/plain", "", llm.Invalid},
		"no stream":    {200, "application/json", `{"error":{"code":503,"message":"loading"}}`, llm.Overload},
		"string":       {404, "application/json", `{"error":"model not found"}`, llm.Invalid},
		"proxy's page": {502, "text/html", "<html>", llm.Transient},
		"another page": {200, "text/html", "<html>\n\n</html>", llm.Invalid},
		"nothing":      {200, "text/event-stream", "", llm.Transient},
	} {
		_, err := ask(t, serve(t, c.status, c.kind, c.answer), openai.Config{Key: "k"}, conform.NewRequest("c"))
		if e, ok := errors.AsType[*llm.ModelCallError](err); !ok || e.Class != c.want {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
}

// TestHalfOpen checks that an answer is taken that gave its reason to stop and
// then neither a formal end nor the end of its connection, also where the
// server dies within a line: all that still can come is the usage.
func TestHalfOpen(t *testing.T) {
	const counted = `!{"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2}}`
	for name, c := range map[string]struct {
		stream string
		usage  nexus.Usage
		after  time.Duration
	}{
		"with usage":    {stream(`{"content":"Hi"}|stop`, counted), nexus.Usage{Input: 5, Output: 2}, time.Second},
		"without usage": {stream(`{"content":"Hi"}|stop`), nexus.Usage{}, 10 * time.Second},
		"half a line":   {stream(`{"content":"Hi"}|stop`, counted) + `data: {"cho`, nexus.Usage{Input: 5, Output: 2}, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, wait := conform.NewHandlerClient(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					w.Header().Set("Content-Type", "text/event-stream")
					_, _ = io.WriteString(w, c.stream)
					<-r.Context().Done()
				}))
				defer wait()
				start := time.Now()
				m := openai.NewProvider(openai.Config{BaseURL: "http://inside.invalid/v1", HTTP: client, Limits: llm.CallLimits{Idle: 5 * time.Minute}})
				got, err := m.Stream(t.Context(), conform.NewRequest("c"), nil)
				if err != nil || got.Message.Text() != "Hi" || got.Stop != llm.StopDone || time.Since(start) != c.after {
					t.Errorf("%+v after %s: %v", got, time.Since(start), err)
				}
				if got.Estimated != (c.usage == nexus.Usage{}) || !got.Estimated && got.Usage != c.usage {
					t.Errorf("%+v, estimated: %t", got.Usage, got.Estimated)
				}
			})
		})
	}
}
