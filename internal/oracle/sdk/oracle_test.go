// Package sdk compares what the program sends to providers, and how it reads
// their answers, with their official SDKs.
package sdk

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest/conform"
)

// base is where no server is: all that is sent stays in this process.
const base = "http://models.invalid"

// wire is one of ours beside the SDK that it is compared with.
type wire struct {
	model func(h *http.Client) llm.Provider
	send  func(r llm.Request, h *http.Client)                // sends the same conversation through the SDK
	again func(t *testing.T, body map[string]any) any        // what the SDK's types make of a body of ours
	hear  func(t *testing.T, h *http.Client) (answer, error) // what the SDK makes of a stream
	same  func(body map[string]any)                          // writes in one way what the provider takes in two
	deaf  []string                                           // the streams that the SDK cannot read, and ours can
	known func(raw json.RawMessage) string                   // the thinking in a part that is the provider's own
}

// request is what reaches the network.
type request struct {
	Method, URL string
	Header      http.Header
	Body        any
}

// catch is a transport that keeps the last request, and answers with a stream.
type catch struct {
	got    *http.Request
	body   []byte
	stream []byte
}

func (c *catch) RoundTrip(r *http.Request) (*http.Response, error) {
	c.got = r
	if r.Body != nil {
		c.body, _ = io.ReadAll(r.Body)
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: r,
		Body: io.NopCloser(bytes.NewReader(c.stream)),
	}, nil
}

// request returns what was sent, without the headers in which clients name
// themselves.
func (c *catch) request(t *testing.T, same func(map[string]any)) request {
	t.Helper()
	if c.got == nil {
		t.Fatal("nothing was sent")
	}
	h := c.got.Header.Clone()
	for name := range h {
		if strings.HasPrefix(name, "X-Stainless-") || name == "User-Agent" || name == "X-Goog-Api-Client" || name == "Accept" {
			h.Del(name)
		}
	}
	body := tree(t, c.body)
	same(body)
	return request{c.got.Method, c.got.URL.String(), h, body}
}

func tree(t *testing.T, data []byte) map[string]any {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	var v map[string]any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%v: %s", err, data)
	}
	return v
}

// client returns a client whose requests are caught.
func (c *catch) client() *http.Client { return &http.Client{Transport: c} }

// conversations returns requests of every kind that the program makes.
func conversations() map[string]llm.Request {
	plain := conform.NewRequest("c")
	bare := plain
	bare.System, bare.Tools = "", nil
	closed, open, anyTool, one, hard, long := plain, plain, plain, plain, plain, plain
	closed.Schema = json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"}},"required":["a"],"additionalProperties":false}`)
	open.Schema = json.RawMessage(`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"number"}}}`)
	anyTool.Force, one.Force, hard.Effort = llm.AnyTool, "read_file", "high"
	hard.Family = "run-1/coder"
	long.Tools = append(long.Tools[:1:1], llm.ToolDescription{Name: "finish", Schema: json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)})
	long.Messages = append(long.Messages[:1:1],
		llm.Message{From: llm.Assistant, Parts: []llm.MessagePart{
			{Text: "I look <at> \"both\" & \u4e16\u754c \u2028 first."},
			{Call: &llm.ToolCall{ID: "call_1", Tool: "read_file", Input: json.RawMessage(`{"path":"<a>&\"\u00fc\".go","n":1234567890123}`)}},
			{Call: &llm.ToolCall{ID: "call_2", Tool: "finish", Input: json.RawMessage(`{}`)}},
		}},
		llm.Message{From: llm.User, Parts: []llm.MessagePart{
			{Result: &llm.ToolResult{ID: "call_1", Text: "package a // <b>\n\x1b[0m\ttab"}},
			{Result: &llm.ToolResult{ID: "call_2", Text: "no", Failed: true}},
			{Text: "Go on."},
		}},
		llm.Message{From: llm.Assistant, Parts: []llm.MessagePart{{Text: "One."}}},
		llm.UserMessage("Two."),
	)
	return map[string]llm.Request{
		"plain": plain, "bare": bare, "closed schema": closed, "open schema": open, "any tool": anyTool, "one tool": one, "effort": hard, "long": long,
	}
}

// TestRequests holds each request of ours against what the SDK sends for the
// same conversation, and against what the SDK's types keep of it.
func TestRequests(t *testing.T) {
	for name, w := range wires() {
		for kind, r := range conversations() {
			t.Run(name+"/"+kind, func(t *testing.T) {
				var ours, theirs catch
				_, _ = w.model(ours.client()).Stream(t.Context(), r, nil) // which gets no answer
				w.send(r, theirs.client())
				if diff := cmp.Diff(theirs.request(t, w.same), ours.request(t, w.same)); diff != "" {
					t.Errorf("the SDK sends (-), ours sends (+):\n%s", diff)
				}
				w.wantKept(t, ours.body)
			})
		}
		t.Run(name+"/thinking that comes back", func(t *testing.T) {
			r := conform.NewRequest("c")
			stream := record(t, w, llmtest.ScriptTurn{Think: "<hm> \u4e16", Say: "I look.", Calls: []llmtest.ScriptCall{{Tool: "read_file", Input: map[string]any{"path": "a"}}}})
			tape := catch{stream: stream}
			first, err := w.model(tape.client()).Stream(t.Context(), r, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Messages = append(r.Messages, first.Message, llm.Message{From: llm.User, Parts: []llm.MessagePart{{Result: &llm.ToolResult{ID: first.ToolCalls()[0].ID, Text: "a"}}}})
			_, _ = w.model(tape.client()).Stream(t.Context(), r, nil)
			if !bytes.Contains(tape.body, []byte("<hm> \u4e16")) {
				t.Errorf("the thinking is not sent back: %s", tape.body)
			}
			w.wantKept(t, tape.body)
		})
	}
}

// wantKept checks that the SDK's types lose nothing of a body.
func (w wire) wantKept(t *testing.T, body []byte) {
	t.Helper()
	want := tree(t, body)
	delete(want, "stream") // the SDK's types do not have it: which call is made says it
	w.same(want)
	data, err := json.Marshal(w.again(t, want))
	if err != nil {
		t.Fatal(err)
	}
	got := tree(t, data)
	w.same(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ours (-), as the SDK's types keep it (+):\n%s", diff)
	}
}

// record returns the stream in which the scripted server answers.
func record(t *testing.T, w wire, turn llmtest.ScriptTurn) []byte {
	t.Helper()
	s, err := llmtest.NewServer(llmtest.Script{Conversations: []llmtest.ScriptConversation{{Match: "c", Turns: []llmtest.ScriptTurn{turn}}}}, llmtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := conform.HandlerRoundTripper{Handler: s, Answer: httptest.NewRecorder()}
	_, _ = w.model(&http.Client{Transport: h}).Stream(t.Context(), conform.NewRequest("c"), nil) // whatever comes of it
	return h.Answer.Body.Bytes()
}
