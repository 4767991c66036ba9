package gemini_test

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

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/gemini"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest/conform"
)

// server answers every request with the same words and keeps what it got.
type server struct {
	*httptest.Server
	body, path string
	header     http.Header
}

func serve(t *testing.T, status int, kind, answer string) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		s.body, s.header, s.path = string(data), r.Header, r.URL.String()
		w.Header().Set("Content-Type", kind)
		w.WriteHeader(status)
		fmt.Fprint(w, answer)
	}))
	t.Cleanup(s.Close)
	return s
}

// stream makes an event of each candidate, each with the reason behind a "|".
func stream(candidates ...string) string {
	var b strings.Builder
	for _, c := range candidates {
		if strings.HasPrefix(c, "!") {
			fmt.Fprintf(&b, "data: %s\n\n", c[1:])
			continue
		}
		parts, reason, _ := strings.Cut(c, "|")
		end := ""
		if reason != "" {
			end = `,"finishReason":"` + reason + `"`
		}
		fmt.Fprintf(&b, `data: {"candidates":[{"content":{"role":"model","parts":[%s]}%s}],"modelVersion":"m","responseId":"r1"}`+"\n\n", parts, end)
	}
	return b.String()
}

const geminiUsage = `!{"usageMetadata":{"promptTokenCount":100,"cachedContentTokenCount":60,"candidatesTokenCount":7,"thoughtsTokenCount":5,"toolUsePromptTokenCount":2,"totalTokenCount":114}}`

func TestRequest(t *testing.T) {
	for _, name := range []string{"GOOGLE_GEMINI_BASE_URL", "GOOGLE_VERTEX_BASE_URL"} {
		t.Setenv(name, "http://127.0.0.1:1")
	}
	t.Setenv("GOOGLE_GENAI_USE_VERTEXAI", "true")
	t.Setenv("GOOGLE_API_KEY", "not this one")
	s := serve(t, 200, "text/event-stream", stream(`{"text":"x"}|STOP`, geminiUsage))
	r := conform.NewRequest("c")
	r.Schema, r.Force, r.Effort = json.RawMessage(`{"type":"object"}`), "read_file", "low"
	r.Messages = append(r.Messages,
		llm.Message{From: llm.Assistant, Parts: []llm.MessagePart{
			{Raw: json.RawMessage(`{"gemini":{"part":{"text":"hm","thought":true}}}`)},
			{Raw: json.RawMessage(`{"type":"thinking","thinking":"not ours"}`)},
			{Text: "I <look>"},
			{Raw: json.RawMessage(`{"gemini":{"sign":"c2ln","call":"gemini-call-0-0"}}`)},
			{Call: &llm.ToolCall{ID: "gemini-call-0-0", Tool: "read_file", Input: json.RawMessage(`{"path":"<a>","n":12345678901234567890}`)}},
			{Call: &llm.ToolCall{ID: "theirs", Tool: "list_files", Input: json.RawMessage(`{}`)}},
		}},
		llm.Message{From: llm.User, Parts: []llm.MessagePart{
			{Text: "go on"}, {Result: &llm.ToolResult{ID: "gemini-call-0-0", Text: "a"}}, {Result: &llm.ToolResult{ID: "theirs", Text: "b", Failed: true}},
		}},
		llm.Message{From: llm.Assistant, Parts: []llm.MessagePart{ // another provider's
			{Call: &llm.ToolCall{ID: "1", Tool: "read_file", Input: json.RawMessage(`{}`)}}, {Call: &llm.ToolCall{ID: "2", Tool: "read_file", Input: json.RawMessage(`{}`)}},
		}},
	)
	if _, err := gemini.NewProvider(gemini.Config{Key: "k", BaseURL: s.URL}).Stream(t.Context(), r, nil); err != nil {
		t.Fatal(err)
	}
	want := `{"contents":[{"role":"user","parts":[{"text":"Conversation: c\nDo the task."}]},` +
		`{"role":"model","parts":[{"text":"hm","thought":true},{"text":"I <look>"},` +
		`{"functionCall":{"name":"read_file","args":{"path":"<a>","n":12345678901234567890}},"thoughtSignature":"c2ln"},` +
		`{"functionCall":{"id":"theirs","name":"list_files","args":{}}}]},` +
		`{"role":"user","parts":[{"functionResponse":{"name":"read_file","response":{"output":"a"}}},` +
		`{"functionResponse":{"id":"theirs","name":"list_files","response":{"error":"b"}}},{"text":"go on"}]},` +
		`{"role":"model","parts":[{"functionCall":{"id":"1","name":"read_file","args":{}},"thoughtSignature":"skip_thought_signature_validator"},` +
		`{"functionCall":{"id":"2","name":"read_file","args":{}}}]}],` +
		`"generationConfig":{"maxOutputTokens":1000,"responseMimeType":"application/json","responseJsonSchema":{"type":"object"},` +
		`"thinkingConfig":{"thinkingLevel":"LOW","includeThoughts":true}},` +
		`"systemInstruction":{"parts":[{"text":"You are the coder."}]},` +
		`"toolConfig":{"functionCallingConfig":{"mode":"ANY","allowedFunctionNames":["read_file"]}},` +
		`"tools":[{"functionDeclarations":[{"name":"read_file","description":"reads <a> file","parametersJsonSchema":` + string(r.Tools[0].Schema) + `}]}]}`
	body := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(strings.TrimSpace(s.body)) // as the SDK sends it
	if diff := cmp.Diff(want, body); diff != "" {
		t.Error(diff)
	}
	if s.path != "/v1beta/models/scripted:streamGenerateContent?alt=sse" || s.header.Get("X-Goog-Api-Key") != "k" {
		t.Errorf("%s %v", s.path, s.header)
	}
}

func TestAnswer(t *testing.T) {
	counted := nexus.Usage{Input: 42, CacheRead: 60, Output: 12}
	call := func(id, tool, input string) llm.MessagePart {
		return llm.MessagePart{Call: &llm.ToolCall{ID: id, Tool: tool, Input: json.RawMessage(input)}}
	}
	raw := func(s string) llm.MessagePart { return llm.MessagePart{Raw: json.RawMessage(s)} }
	for name, c := range map[string]struct {
		events []string
		stop   llm.StopReason
		parts  []llm.MessagePart
		class  llm.CallFailureClass
		code   string
		flaw   string
		free   bool // the server does not tell the usage
	}{
		"text": {events: []string{`{"text":"a"}`, `{"text":"b"}|STOP`, geminiUsage}, stop: llm.StopDone, parts: []llm.MessagePart{{Text: "ab"}}},
		"parallel calls without ids": {
			events: []string{`{"functionCall":{"name":"t","args":{"n":12345678901234567890}},"thoughtSignature":"c2ln"},{"functionCall":{"name":"t"}}`, `|STOP`, geminiUsage},
			stop:   llm.StopTools, parts: []llm.MessagePart{
				raw(`{"gemini":{"sign":"c2ln","call":"gemini-call-0-0"}}`),
				call("gemini-call-0-0", "t", `{"n":12345678901234567890}`), call("gemini-call-0-1", "t", `{}`),
			},
		},
		"signatures": {
			events: []string{`{"text":"h","thought":true}`, `{"text":"m","thought":true,"thoughtSignature":"YQ=="}`, `{"text":"x"}`, `{"text":"","thoughtSignature":"Yg=="}`, `{"text":"y"}|STOP`, geminiUsage},
			stop:   llm.StopDone, parts: []llm.MessagePart{
				raw(`{"gemini":{"part":{"text":"hm","thought":true,"thoughtSignature":"YQ=="}}}`), raw(`{"gemini":{"sign":"Yg=="}}`), {Text: "x"}, {Text: "y"},
			},
		},
		"an unknown part": {
			events: []string{`{"executableCode":{"code":"1"}},{"text":"x"}|STOP`, geminiUsage},
			stop:   llm.StopDone, parts: []llm.MessagePart{raw(`{"gemini":{"part":{"executableCode":{"code":"1"}}}}`), {Text: "x"}},
		},
		"length":         {events: []string{`{"text":"a"},{"functionCall":{"name":"t"}}|MAX_TOKENS`, geminiUsage}, stop: llm.StopLength, parts: []llm.MessagePart{{Text: "a"}}},
		"recitation":     {events: []string{`{"text":"a"}|RECITATION`, geminiUsage}, stop: llm.StopRefuse, parts: []llm.MessagePart{{Text: "a"}}},
		"blocked prompt": {events: []string{`!{"promptFeedback":{"blockReason":"PROHIBITED_CONTENT"}}`, geminiUsage}, class: llm.Safety, code: "prohibited_content"},
		"malformed call": {events: []string{`{"text":"a"}|MALFORMED_FUNCTION_CALL`, geminiUsage}, stop: llm.StopMalformed, parts: []llm.MessagePart{{Text: "a"}}},
		"a call that is no JSON": {
			events: []string{`{"text":"a"}`, `!{"candidates":[{"content":{"parts":[{"functionCall":{"name":"t","args":{"n":}}}]},"finishReason":"STOP"}]}`, geminiUsage},
			stop:   llm.StopMalformed, parts: []llm.MessagePart{{Text: "a"}}, flaw: "its call is not JSON: invalid character '}' looking for beginning of value",
		},
		"a call of a kind": {
			events: []string{`{"functionCall":{"name":"t"}},{"functionCall":"t"}|STOP`, geminiUsage}, stop: llm.StopMalformed,
			flaw: "its call cannot be read: json: cannot unmarshal string into Go struct field geminiAnswerPart.functionCall of type gemini.geminiCall",
		},
		"malformed response": {events: []string{`{"text":"a"}|MALFORMED_RESPONSE`, geminiUsage}, stop: llm.StopMalformed, parts: []llm.MessagePart{{Text: "a"}}},
		"other":              {events: []string{`{"text":"a"}|OTHER`, geminiUsage}, class: llm.Transient, code: "other"},
		"args of a kind": {events: []string{`{"functionCall":{"name":"t","args":[1]}}|STOP`, geminiUsage}, stop: llm.StopTools, parts: []llm.MessagePart{
			{Call: &llm.ToolCall{ID: "gemini-call-0-0", Tool: "t", Input: json.RawMessage("{}"), Flaw: `its input is JSON, but not an object: "[1]"`}},
		}},
		"no usage":        {events: []string{`{"text":"abc"}|STOP`}, stop: llm.StopDone, parts: []llm.MessagePart{{Text: "abc"}}, free: true},
		"no reason":       {events: []string{`{"text":"abc"}`}, class: llm.Transient, code: "incomplete"},
		"error in stream": {events: []string{`{"text":"abc"}`, `!{"error":{"code":429,"status":"RESOURCE_EXHAUSTED","message":"slow"}}`}, class: llm.Quota, code: "429"},
		"not JSON":        {events: []string{`!{"candidates":[`}, class: llm.Transient, code: "malformed"},
	} {
		t.Run(name, func(t *testing.T) {
			r := conform.NewRequest("c")
			s := serve(t, 200, "text/event-stream", stream(c.events...))
			got, err := gemini.NewProvider(gemini.Config{Key: "k", BaseURL: s.URL}).Stream(t.Context(), r, nil)
			if c.class != "" {
				if e, ok := errors.AsType[*llm.ModelCallError](err); !ok || e.Class != c.class || e.Code != c.code || len(got.Message.Parts) > 0 {
					t.Fatalf("%+v %v", got, err)
				}
				return
			}
			want := llm.Response{Message: llm.Message{From: llm.Assistant, Parts: c.parts}, Stop: c.stop, Usage: counted, Model: "m", ID: "r1", Flaw: c.flaw}
			if c.free {
				want.Usage, want.Estimated = llm.EstimateUsage(r, nexus.Usage{}, 3), true
			}
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Error(err, diff)
			}
		})
	}
}

// TestModelNames holds that a name leads nowhere but to a model.
func TestModelNames(t *testing.T) {
	s := serve(t, 200, "text/event-stream", stream(`{"text":"x"}|STOP`, geminiUsage))
	for name, want := range map[string]string{
		"m": "/v1beta/models/m:streamGenerateContent?alt=sse", "models/m": "/v1beta/models/m:streamGenerateContent?alt=sse",
		"tunedModels/m": "/v1beta/tunedModels/m:streamGenerateContent?alt=sse", "a?b": "/v1beta/models/a%3Fb:streamGenerateContent?alt=sse",
		"": "", "..": "", "../files/f": "", "models/../../v1/files": "", "a/..": "",
	} {
		s.path = ""
		r := conform.NewRequest("c")
		r.Model = name
		_, err := gemini.NewProvider(gemini.Config{Key: "k", BaseURL: s.URL}).Stream(t.Context(), r, nil)
		e, refused := errors.AsType[*llm.ModelCallError](err)
		if s.path != want || (want == "") != refused || refused && (e.Class != llm.Invalid || e.Code != "model") {
			t.Errorf("%q: asked %q, %v", name, s.path, err)
		}
	}
}

// over is a transport that answers with some bytes, and then with nothing until
// the call is left.
type over string

func (o over) RoundTrip(r *http.Request) (*http.Response, error) {
	in, out := io.Pipe()
	go func() {
		_, _ = io.WriteString(out, string(o))
		<-r.Context().Done()
		_ = out.CloseWithError(r.Context().Err())
	}()
	return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: in, Request: r}, nil
}

// TestCutBehindTheEnd: an answer that ended is whole, though the server began to
// say more and then fell silent.
func TestCutBehindTheEnd(t *testing.T) {
	for _, more := range []string{"", `data: {"usageMeta`, "data: {}\n\ndata: {"} {
		synctest.Test(t, func(t *testing.T) {
			h := &http.Client{Transport: over(stream(`{"text":"x"}|STOP`, geminiUsage) + more)}
			got, err := gemini.NewProvider(gemini.Config{Key: "k", BaseURL: "http://h.invalid", HTTP: h}).Stream(t.Context(), conform.NewRequest("c"), nil)
			if err != nil || got.Message.Text() != "x" || got.Stop != llm.StopDone || got.Estimated {
				t.Errorf("%q behind the end: %+v, %v", more, got, err)
			}
		})
	}
}

// TestModels reads a list page by page.
func TestModels(t *testing.T) {
	var asked []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked = append(asked, r.URL.String())
		w.Header().Set("Content-Type", "application/json")
		if r.URL.Query().Get("pageToken") == "" {
			fmt.Fprint(w, `{"models":[{"name":"models/a","inputTokenLimit":1000,"outputTokenLimit":10}],"nextPageToken":"n"}`)
		} else {
			fmt.Fprint(w, `{"models":[{"name":"models/b"}]}`)
		}
	}))
	defer s.Close()
	got, err := gemini.NewProvider(gemini.Config{Key: "k", BaseURL: s.URL}).Models(t.Context())
	if diff := cmp.Diff([]llm.ModelInfo{{Name: "a", Context: 1000, Output: 10}, {Name: "b"}}, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if diff := cmp.Diff([]string{"/v1beta/models", "/v1beta/models?pageToken=n"}, asked); diff != "" {
		t.Error(diff)
	}
}
