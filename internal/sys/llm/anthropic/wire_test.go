package anthropic_test

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
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/anthropic"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest/conform"
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
		w.Header().Set("request-id", "req_1")
		w.WriteHeader(status)
		fmt.Fprint(w, answer)
	}))
	t.Cleanup(s.Close)
	return s
}

// stream makes events of their data.
func stream(data ...string) string {
	var b strings.Builder
	for _, d := range data {
		var v struct{ Type string }
		_ = json.Unmarshal([]byte(d), &v)
		fmt.Fprintf(&b, "event: %s\ndata: %s\n\n", v.Type, d)
	}
	return b.String()
}

const (
	begin = `{"type":"message_start","message":{"id":"msg_1","model":"claude-x","usage":{"input_tokens":10,"cache_read_input_tokens":20,"cache_creation_input_tokens":30,"output_tokens":1}}}`
	end   = `{"type":"message_stop"}`
)

func stopped(reason string) string {
	return `{"type":"message_delta","delta":{"stop_reason":"` + reason + `"},"usage":{"output_tokens":40}}`
}

func ask(t *testing.T, s *server, c anthropic.Config, r llm.Request) (llm.Response, error) {
	t.Helper()
	c.BaseURL = s.URL
	return anthropic.NewProvider(c).Stream(t.Context(), r, nil)
}

func TestRequest(t *testing.T) {
	for _, name := range []string{"API_KEY", "AUTH_TOKEN", "BASE_URL", "CUSTOM_HEADERS"} {
		t.Setenv("ANTHROPIC_"+name, "X-Leak: http://127.0.0.1:1")
	}
	s := serve(t, 200, "text/event-stream", stream(begin, stopped("end_turn"), end))
	r := conform.NewRequest("c")
	r.Schema = json.RawMessage(`{"type":"object"}`)
	r.Messages = append(r.Messages,
		llm.Message{From: llm.Assistant, Parts: []llm.MessagePart{
			{Raw: json.RawMessage(`{"type":"thinking","thinking":"<hm>","signature":"c2ln"}`)},
			{Raw: json.RawMessage(`{"chat":{"reasoning_content":"not ours"}}`)},
			{Text: " \n"},
			{Call: &llm.ToolCall{ID: "1", Tool: "read_file", Input: json.RawMessage(`{"path":"<a>"}`)}},
			{Call: &llm.ToolCall{ID: "2", Tool: "read_file"}},
		}},
		llm.Message{From: llm.User, Parts: []llm.MessagePart{
			{Text: "go on"}, {Result: &llm.ToolResult{ID: "1"}}, {Result: &llm.ToolResult{ID: "2", Text: "no such file", Failed: true}},
		}},
		llm.Message{From: llm.Assistant},
	)
	if _, err := ask(t, s, anthropic.Config{Key: "k", Effort: "low", Thinking: "adaptive"}, r); err != nil {
		t.Fatal(err)
	}
	want := `{"model":"scripted","max_tokens":1000,"stream":true,"cache_control":{"type":"ephemeral"},` +
		`"output_config":{"effort":"low","format":{"type":"json_schema","schema":{"type":"object"}}},"thinking":{"type":"adaptive","display":"summarized"},` +
		`"tools":[{"name":"read_file","description":"reads <a> file","input_schema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"]}}],` +
		`"system":[{"type":"text","text":"You are the coder.","cache_control":{"type":"ephemeral"}}],` +
		`"messages":[{"role":"user","content":[{"type":"text","text":"Conversation: c\nDo the task."}]},` +
		`{"role":"assistant","content":[{"type":"thinking","thinking":"<hm>","signature":"c2ln"},` +
		`{"type":"tool_use","id":"1","name":"read_file","input":{"path":"<a>"}},{"type":"tool_use","id":"2","name":"read_file","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":""},` +
		`{"type":"tool_result","tool_use_id":"2","content":"no such file","is_error":true},{"type":"text","text":"go on"}]}]}`
	if diff := cmp.Diff(want, s.body); diff != "" {
		t.Error(diff)
	}
	if s.path != "/v1/messages" || s.header.Get("X-Api-Key") != "k" || s.header.Get("Anthropic-Version") == "" ||
		s.header.Get("X-Leak") != "" || s.header.Get("Authorization") != "" {
		t.Errorf("%s %v", s.path, s.header)
	}
}

// TestBridge checks that a turn of more blocks than the provider looks back
// over keeps a breakpoint where the request before it ended.
func TestBridge(t *testing.T) {
	s := serve(t, 200, "text/event-stream", stream(begin, stopped("end_turn"), end))
	for calls, want := range map[int]int{2: 2, 20: 3} {
		r := conform.NewRequest("c")
		var said, got llm.Message
		said.From, got.From = llm.Assistant, llm.User
		for i := range calls {
			id := fmt.Sprint(i)
			said.Parts = append(said.Parts, llm.MessagePart{Call: &llm.ToolCall{ID: id, Tool: "read_file"}})
			got.Parts = append(got.Parts, llm.MessagePart{Result: &llm.ToolResult{ID: id, Text: "x"}})
		}
		r.Messages = append(r.Messages, said, got)
		if _, err := ask(t, s, anthropic.Config{}, r); err != nil {
			t.Fatal(err)
		}
		if n := strings.Count(s.body, "cache_control"); n != want {
			t.Errorf("%d calls: %d breakpoints, want %d", calls, n, want)
		}
		if calls == 20 && !strings.Contains(s.body, `Do the task.","cache_control"`) {
			t.Error("the breakpoint is not where the last request ended")
		}
	}
}

func TestAnswer(t *testing.T) {
	const call = `{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"1","name":"t","input":{}}}`
	const args = `{"type":"content_block_delta","index":1,"delta":{"type":"input_json_delta","partial_json":"{\"a\": 1}"}}`
	const text = `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}`
	const more = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"b"}}`
	const close0, close1 = `{"type":"content_block_stop","index":0}`, `{"type":"content_block_stop","index":1}`
	whole := []string{begin, text, more, close0, call, args, close1}
	ab, called := llm.MessagePart{Text: "ab"}, llm.MessagePart{Call: &llm.ToolCall{ID: "1", Tool: "t", Input: json.RawMessage(`{"a": 1}`)}}
	for name, c := range map[string]struct {
		events []string
		stop   llm.StopReason
		parts  []llm.MessagePart
		class  llm.CallFailureClass
	}{
		"tools":       {events: append(whole[:7:7], stopped("tool_use"), end), stop: llm.StopTools, parts: []llm.MessagePart{ab, called}},
		"end":         {events: append(whole[:4:4], stopped("end_turn"), end), stop: llm.StopDone, parts: []llm.MessagePart{ab}},
		"sequence":    {events: append(whole[:4:4], stopped("stop_sequence"), end), stop: llm.StopDone, parts: []llm.MessagePart{ab}},
		"novelty":     {events: append(whole[:4:4], stopped("novelty"), end), stop: llm.StopDone, parts: []llm.MessagePart{ab}},
		"length":      {events: append(whole[:6:6], stopped("max_tokens"), end), stop: llm.StopLength, parts: []llm.MessagePart{ab}},
		"whole calls": {events: append(whole[:7:7], stopped("max_tokens"), end), stop: llm.StopLength, parts: []llm.MessagePart{ab}},
		"refusal":     {events: append(whole[:7:7], stopped("refusal"), end), stop: llm.StopRefuse, parts: []llm.MessagePart{ab}},
		"full":        {events: append(whole[:7:7], stopped("model_context_window_exceeded"), end), class: llm.Context},
		"no reason":   {events: append(whole[:7:7], end), class: llm.Transient},
		"no end":      {events: append(whole[:7:7], stopped("tool_use")), class: llm.Transient},
		"open block":  {events: append(whole[:6:6], stopped("tool_use"), end), class: llm.Transient},
		"disorder":    {events: []string{begin, call}, class: llm.Transient},
		"stray piece": {events: []string{begin, more}, class: llm.Transient},
		"stray end":   {events: []string{begin, close0}, class: llm.Transient},
		"not JSON":    {events: []string{begin, `{"type":"content`}, class: llm.Transient},
		"error": {
			events: []string{begin, `{"type":"error","error":{"type":"rate_limit_error","message":"x"}}`}, class: llm.Quota,
		},
		"only thinking": {
			events: []string{
				begin, `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
				close0, stopped("max_tokens"), end,
			},
			stop: llm.StopLength,
		},
		"raw": {
			events: []string{
				begin, `{"type":"content_block_start","index":0,"content_block":{"type":"redacted_thinking","data":"abc"}}`, close0,
				`{"type":"content_block_start","index":1,"content_block":{"type":"thinking","thinking":"","signature":""}}`,
				`{"type":"content_block_delta","index":1,"delta":{"type":"thinking_delta","thinking":"<x>"}}`,
				`{"type":"content_block_delta","index":1,"delta":{"type":"signature_delta","signature":"c2ln"}}`,
				close1, stopped("end_turn"), end,
			},
			stop: llm.StopDone, parts: []llm.MessagePart{
				{Raw: json.RawMessage(`{"type":"redacted_thinking","data":"abc"}`)},
				{Raw: json.RawMessage(`{"type":"thinking","thinking":"<x>","signature":"c2ln"}`)},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ask(t, serve(t, 200, "text/event-stream", stream(c.events...)), anthropic.Config{}, conform.NewRequest("c"))
			usage := nexus.Usage{Input: 10, CacheRead: 20, CacheWrite: 30, Output: 40}
			if c.class != "" {
				e, ok := errors.AsType[*llm.ModelCallError](err)
				if !ok || e.Class != c.class || len(got.Message.Parts) > 0 {
					t.Fatalf("%+v %v", got, err)
				}
				if got.Usage.Input != 10 {
					t.Errorf("usage is lost: %+v", got.Usage)
				}
				return
			}
			want := llm.Response{
				Message: llm.Message{From: llm.Assistant, Parts: c.parts}, Stop: c.stop, Usage: usage, Model: "claude-x", ID: "req_1",
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
		"redirect":      {307, "text/plain", "", llm.Invalid},
		"no stream":     {200, "application/json", `{"type":"error","error":{"type":"overloaded_error","message":"x"}}`, llm.Overload},
		"proxy's page":  {502, "text/html", "<html>", llm.Transient},
		"another page":  {200, "text/html", "<html>\n\n</html>", llm.Invalid},
		"nothing":       {200, "text/event-stream", "", llm.Transient},
		"error in JSON": {500, "application/json", "{", llm.Transient},
	} {
		_, err := ask(t, serve(t, c.status, c.kind, c.answer), anthropic.Config{Key: "k"}, conform.NewRequest("c"))
		if e, ok := errors.AsType[*llm.ModelCallError](err); !ok || e.Class != c.want {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
	_, err := anthropic.NewProvider(anthropic.Config{BaseURL: "ftp://x"}).Stream(t.Context(), conform.NewRequest("c"), nil)
	if e, ok := errors.AsType[*llm.ModelCallError](err); !ok || e.Class != llm.Invalid {
		t.Error(err)
	}
}

// TestTerms holds what the price hangs on besides the tokens.
func TestTerms(t *testing.T) {
	s := serve(t, 200, "text/event-stream", stream(
		`{"type":"message_start","message":{"id":"m","model":"c","usage":{"input_tokens":1,"service_tier":"standard","inference_geo":"us","server_tool_use":{"web_search_requests":1}}}}`,
		`{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"x"}}`, `{"type":"content_block_stop","index":0}`,
		`{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1,"server_tool_use":{"web_search_requests":3}}}`, end))
	got, err := anthropic.NewProvider(anthropic.Config{Key: "k", BaseURL: s.URL}).Stream(t.Context(), conform.NewRequest("c"), nil)
	if want := (llm.BillingTerms{Service: "standard", Region: "us", Searches: 3}); err != nil || got.Terms != want {
		t.Errorf("%+v %v", got.Terms, err)
	}
}

// TestModels reads a list page by page, and knows the last one however it is
// told.
func TestModels(t *testing.T) {
	for name, c := range map[string]struct {
		pages map[string]string // by the id after which they begin
		want  string
		asked int
	}{
		"three pages": {map[string]string{
			"":  `{"data":[{"id":"a"},{"id":"b"}],"has_more":true,"last_id":"b"}`,
			"b": `{"data":[{"id":"c","max_input_tokens":200000,"max_tokens":64000}],"has_more":true,"last_id":"c"}`,
			"c": `{"data":[{"id":"d"}],"has_more":false,"last_id":"d"}`,
		}, "a b c d", 3},
		"no more":      {map[string]string{"": `{"data":[{"id":"a"}],"has_more":false,"last_id":"a"}`}, "a", 1},
		"no last id":   {map[string]string{"": `{"data":[{"id":"a"}],"has_more":true,"last_id":null}`}, "a", 1},
		"an empty one": {map[string]string{"": `{"data":[],"has_more":true,"last_id":"a"}`}, "", 1},
		"not said": {map[string]string{
			"": `{"data":[{"id":"a"}],"last_id":"a"}`, "a": `{"data":[]}`,
		}, "a", 2},
	} {
		asked := 0
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked++
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, c.pages[r.URL.Query().Get("after_id")])
		}))
		all, err := anthropic.NewProvider(anthropic.Config{Key: "k", BaseURL: s.URL}).Models(t.Context())
		s.Close()
		var names []string
		for _, m := range all {
			names = append(names, m.Name)
			if m.Name == "c" && (m.Context != 200_000 || m.Output != 64_000) {
				t.Errorf("%+v", m)
			}
		}
		if err != nil || strings.Join(names, " ") != c.want || asked != c.asked {
			t.Errorf("%s: %v after %d pages, %v", name, names, asked, err)
		}
	}
}
