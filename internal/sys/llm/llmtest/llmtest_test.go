package llmtest_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/anthropic"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/openai"
)

const script = `
conversations:
  - match: T3.*/coder.1
    turns:
      - say: I look first.
        calls:
          - {tool: read_file, input: {path: sum.go}}
        delay: 1ms
      - think: hm
        calls:
          - {tool: finish, input: {summary: done, status: done}}
        usage: {input: 1, output: 2, cache_read: 3, cache_write: 4}
        fault: overloaded
        times: 2
        after: "0"
        stop: tools
        expect: [package sum]
default: {say: nothing to add}
`

func TestParse(t *testing.T) {
	got, err := llmtest.ParseScript([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	want := llmtest.Script{
		Conversations: []llmtest.ScriptConversation{{Match: "T3.*/coder.1", Turns: []llmtest.ScriptTurn{
			{Say: "I look first.", Calls: []llmtest.ScriptCall{{Tool: "read_file", Input: map[string]any{"path": "sum.go"}}}, Delay: time.Millisecond},
			{
				Think: "hm", Calls: []llmtest.ScriptCall{{Tool: "finish", Input: map[string]any{"summary": "done", "status": "done"}}},
				Usage: &llmtest.ScriptUsage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4},
				Fault: llmtest.Overloaded, Times: 2, After: "0", Stop: llm.StopTools, Expect: []string{"package sum"},
			},
		}}},
		Default: &llmtest.ScriptTurn{Say: "nothing to add"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                 "empty",
		"conversation: []": "conversation",
		"conversations: [{match: a, turns: [{says: x}]}]":                                "says",
		"conversations: [{match: '[', turns: []}]":                                       "not a pattern",
		"conversations: [{turns: []}]":                                                   "not a pattern",
		"conversations: [{match: a, turns: [{stop: never}]}]":                            `conversation a: turn 1: stop "never"`,
		"conversations: [{match: a, turns: [{say: x}, {fault: hiccup}]}]":                `turn 2: fault "hiccup" is unknown`,
		"conversations: [{match: a, turns: [{fault: bad-json}]}]":                        "needs 1 calls",
		"conversations: [{match: a, turns: [{calls: [{tool: t}], fault: same-id}]}]":     "needs 2 calls",
		"conversations: [{match: a, turns: [{calls: [{input: {}}]}]}]":                   "names no tool",
		"conversations: [{match: a, turns: [{calls: [{tool: t, input: {x: .nan}}]}]}]":   "input of t",
		"conversations: [{match: a, turns: [{delay: -1s}]}]":                             "below zero",
		"default: {stop: maybe}":                                                         "default: stop",
		"a: &a [x,x,x]\nb: [*a,*a]":                                                      "",
		"conversations: [{match: a, turns: [{calls: [{tool: t, input: [1]}]}]}]":         "",
		"conversations: [{match: a, turns: [{calls: [{tool: t, input: {1: {2: 3}}}]}]}]": "",
	} {
		if _, err := llmtest.ParseScript([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(script))
	f.Add([]byte("default: {calls: [{tool: t, input: {a: [1, {b: null}], c: 1e3}}], fault: length}"))
	f.Add([]byte("conversations: [{match: '*/*', turns: [{say: x, fault: split}]}]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := llmtest.ParseScript(data)
		if err != nil {
			return
		}
		srv, err := llmtest.NewServer(s, llmtest.Options{})
		if err != nil {
			t.Fatalf("what is parsed does not play: %v", err)
		}
		if s.Default == nil || s.Default.Delay > 0 || s.Default.Fault != "" {
			return
		}
		for _, path := range []string{"/v1/messages", "/v1/chat/completions"} {
			body := `{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]}`
			w := httptest.NewRecorder()
			srv.ServeHTTP(w, httptest.NewRequest(http.MethodPost, path, strings.NewReader(body)))
			if w.Code != http.StatusOK && !strings.Contains(w.Body.String(), "script: ") {
				t.Fatalf("%s: %d %s", path, w.Code, w.Body)
			}
		}
	})
}

// play starts a server that is gone at the end of the test, with nothing left
// of it.
func play(t *testing.T, text string, o llmtest.Options) *llmtest.Server {
	t.Helper()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
	})
	s, err := llmtest.ParseScript([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	srv, stop, err := llmtest.StartServer(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return srv
}

// post sends a request and returns status and body.
func post(t *testing.T, url, body string) (int, string) {
	t.Helper()
	resp, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return 0, err.Error()
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		return resp.StatusCode, string(data) + err.Error()
	}
	return resp.StatusCode, string(data)
}

func TestConversation(t *testing.T) {
	s := play(t, `
conversations:
  - {match: "T1.1/*", turns: [{say: zero}, {say: one}]}
  - {match: "T1.1/coder.1", turns: [{say: hidden by the first}]}
  - {match: "none", turns: []}
`, llmtest.Options{})
	const talk = `{"role":"user","content":"x\nConversation: T1.1/coder.1 \nConversation: other\n"}`
	for _, c := range []struct {
		path, messages, want string
		status               int
	}{
		{"/v1/messages", talk, `"text":"zero"`, 200},
		{"/v1/chat/completions", `{"role":"system","content":"Conversation: no"},` + talk, `"content":"zero"`, 200},
		{"/chat/completions", `{"content":[{"type":"text","text":"Conversation: T1.1/x"}],"role":"user"}`, `"content":"zero"`, 200},
		{"/v1/messages", talk + `,{"role":"assistant","content":"a"},{"role":"user","content":"Conversation: none"}`, `"text":"one"`, 200},
		{"/v1/messages", `{"role":"user","content":"I am in /tmp."},` + talk, `"text":"zero"`, 200},
		{"/v1/messages", `{"role":"user","content":"hello"},{"role":"assistant","content":"a"},` + talk, `fits \"\"`, 400},
		{"/v1/messages", talk + `,{ "role" : "assistant","content":"a"},{"role":"user","content":"b"}`, `"text":"one"`, 200},
		{"/v1/messages", talk + strings.Repeat(`,{"role":"assistant","content":"a"}`, 2), `conversation \"T1.1/coder.1\" has 2 turns in the script and asks for step 2`, 400},
		{"/v1/messages", `{"role":"user","content":"hello"}`, `no conversation of the script fits \"\" (step 0)`, 400},
		{"/v1/chat/completions", `{"role":"user","content":"Conversation: T2/x"}`, `fits \"T2/x\"`, 400},
		{"/v1/messages", ``, "needs a model and messages", 400},
		{"/v1/other", ``, "no such thing", 404},
	} {
		status, body := post(t, s.URL()+c.path, `{"model":"m","messages":[`+c.messages+`]}`)
		if status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s %s: got %d %s", c.path, c.messages, status, body)
		}
	}
	if status, body := post(t, s.URL()+"/v1/messages", `{"mo`); status != 400 || !strings.Contains(body, "not JSON") {
		t.Errorf("%d %s", status, body)
	}
}

// TestWhole checks that an answer without a stream says what the stream says.
func TestWhole(t *testing.T) {
	s := play(t, script, llmtest.Options{})
	const talk = `"messages":[{"role":"user","content":"Conversation: T3.7/coder.1"}]}`
	_, got := post(t, s.URL()+"/v1/messages", `{"model":"m",`+talk)
	if !strings.HasPrefix(got, `{"content":[{"text":"I look first.","type":"text"},{"id":"call_`) || !strings.Contains(got, `"input":{"path":"sum.go"},"name":"read_file"`) || !strings.Contains(got, `"stop_reason":"tool_use"`) {
		t.Error(got)
	}
	_, got = post(t, s.URL()+"/v1/chat/completions", `{"model":"m",`+talk)
	for _, want := range []string{`"arguments":"{\"path\":\"sum.go\"}"`, `"finish_reason":"tool_calls"`, `"content":"I look first."`, `"usage":{`} {
		if !strings.Contains(got, want) {
			t.Errorf("%s is not in %s", want, got)
		}
	}
	_, got = post(t, s.URL()+"/v1/chat/completions", `{"model":"m","stream":true,`+talk)
	if strings.Contains(got, `"usage"`) || !strings.HasSuffix(got, "data: [DONE]\n\n") {
		t.Errorf("usage that nobody asked for: %s", got)
	}
	for _, path := range []string{"/v1/models", "/models"} {
		resp, err := http.Get(s.URL() + path)
		if err != nil {
			t.Fatal(err)
		}
		data, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if !strings.Contains(string(data), `"id":"scripted"`) {
			t.Errorf("%s: %s", path, data)
		}
	}
}

func request(conversation string) llm.Request {
	return llm.Request{
		Model: "m", System: strings.Repeat("You write code. ", 50), MaxTokens: 100,
		Tools:    []llm.ToolDescription{{Name: "read_file", Description: "reads", Schema: json.RawMessage(`{"type":"object"}`)}},
		Messages: []llm.Message{llm.UserMessage("Conversation: " + conversation + "\nDo it.")},
	}
}

// TestFaultsAreCounted checks that a fault ends after its times, per
// conversation and step, and that only whole answers count as paid.
func TestFaultsAreCounted(t *testing.T) {
	var log bytes.Buffer
	s := play(t, `conversations: [{match: "*", turns: [{say: x, fault: overloaded, times: 2}, {say: y, fault: cut, times: -1}]}]`,
		llmtest.Options{Log: &log})
	m := anthropic.NewProvider(anthropic.Config{BaseURL: s.URL()})
	for _, conversation := range []string{"a", "b"} {
		for i, fails := range []bool{true, true, false, false} {
			if _, err := m.Stream(t.Context(), request(conversation), nil); (err != nil) != fails {
				t.Errorf("%s %d: %v", conversation, i, err)
			}
		}
		r := request(conversation)
		r.Messages = append(r.Messages, llm.Message{From: llm.Assistant, Parts: []llm.MessagePart{{Text: "x"}}}, llm.UserMessage("go on"))
		for range 3 {
			if _, err := m.Stream(t.Context(), r, nil); err == nil {
				t.Error("no fault")
			}
		}
		if n := s.PaidAnswers(conversation); n != 2 {
			t.Errorf("%s: %d paid", conversation, n)
		}
	}
	var lines []llmtest.LoggedRequest
	for d := json.NewDecoder(strings.NewReader(get(t, s.URL()+"/log"))); ; {
		var line llmtest.LoggedRequest
		if err := d.Decode(&line); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	if diff := cmp.Diff(s.Requests(), lines); diff != "" || len(lines) != 14 {
		t.Error(len(lines), diff)
	}
	if n := strings.Count(log.String(), `"paid":true`); n != 4 || strings.Count(log.String(), "\n") != 14 {
		t.Error(log.String())
	}
	first := lines[0]
	if first.Seq != 1 || first.Wire != "anthropic" || first.Conversation != "a" || first.Status != 529 || first.Fault != llmtest.Overloaded || first.Bytes < 900 {
		t.Errorf("%+v", first)
	}
}

func get(t *testing.T, url string) string {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestCache checks what the server counts as read from a cache: what an
// earlier request to the same model began with, and no more.
func TestCache(t *testing.T) {
	for name, wire := range map[string]func(url string) llm.Model{
		"anthropic": func(url string) llm.Model { return anthropic.NewProvider(anthropic.Config{BaseURL: url}) },
		"openai":    func(url string) llm.Model { return openai.NewProvider(openai.Config{BaseURL: url}) },
	} {
		t.Run(name, func(t *testing.T) {
			s := play(t, "default: {say: fine}", llmtest.Options{})
			m := wire(s.URL())
			ask := func(r llm.Request) (llm.Response, llmtest.LoggedRequest) {
				t.Helper()
				got, err := m.Stream(t.Context(), r, nil)
				if err != nil {
					t.Fatal(err)
				}
				all := s.Requests()
				return got, all[len(all)-1]
			}
			r := request("a")
			got, first := ask(r)
			if got.Usage.CacheRead != 0 || first.Kept != 0 {
				t.Errorf("a first request was read from a cache: %+v", got.Usage)
			}
			r.Messages = append(r.Messages, got.Message, llm.UserMessage("and?"))
			got, second := ask(r)
			if second.Kept != first.Prompt || got.Usage.CacheRead != int64(first.Prompt/4) {
				t.Errorf("kept %d of %d, usage %+v", second.Kept, first.Prompt, got.Usage)
			}
			if total := int64((second.Prompt + 3) / 4); got.Usage.PromptTokens() != total {
				t.Errorf("%d tokens of %d", got.Usage.PromptTokens(), total)
			}
			long := r
			for range 30 {
				p := llm.MessagePart{Call: &llm.ToolCall{ID: fmt.Sprint(len(long.Messages)), Tool: "read_file", Input: json.RawMessage("{}")}}
				long.Messages = append(long.Messages, llm.Message{From: llm.Assistant, Parts: []llm.MessagePart{p}},
					llm.Message{From: llm.User, Parts: []llm.MessagePart{{Result: &llm.ToolResult{ID: p.Call.ID, Text: "x"}}}})
				if _, seen := ask(long); seen.Kept < second.Prompt {
					t.Fatalf("kept %d of %d", seen.Kept, second.Prompt)
				}
			}
			if _, other := ask(request("b")); other.Kept == 0 || other.Kept >= first.Prompt {
				t.Errorf("another conversation keeps %d of %d", other.Kept, first.Prompt)
			}
			r.System = "Changed. " + r.System
			if _, changed := ask(r); changed.Kept >= second.Prompt/4 {
				t.Errorf("kept %d of %d after the system changed", changed.Kept, second.Prompt)
			}
			r.Model = "n"
			if _, moved := ask(r); moved.Kept != 0 {
				t.Errorf("another model keeps %d", moved.Kept)
			}
		})
	}
}

// TestSameAnswers checks that parallel sessions, and another server, get the
// same answers.
func TestSameAnswers(t *testing.T) {
	const text = `conversations: [{match: "*", turns: [{think: a, say: b, calls: [{tool: t, input: {z: 1, a: 2}}]}]}]`
	answers := make([]llm.Response, 20)
	var wg sync.WaitGroup
	for _, s := range []*llmtest.Server{play(t, text, llmtest.Options{}), play(t, text, llmtest.Options{})} {
		m := openai.NewProvider(openai.Config{BaseURL: s.URL()})
		for i := range answers {
			wg.Go(func() {
				got, err := m.Stream(t.Context(), request(fmt.Sprint("c", i)), nil)
				if err != nil {
					t.Error(err)
				}
				if answers[i].ID == "" {
					answers[i].ID, answers[i].Message = got.ID, got.Message
				} else if diff := cmp.Diff(answers[i].Message, got.Message); diff != "" || answers[i].ID != got.ID {
					t.Error(diff)
				}
			})
		}
		wg.Wait()
	}
	if answers[0].ToolCalls()[0].ID == answers[1].ToolCalls()[0].ID {
		t.Error("two conversations share a call id")
	}
}

// TestStop checks that a server ends at once, with a stalled answer on its
// way, and leaves nothing behind.
func TestStop(t *testing.T) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	s, stop, err := llmtest.StartServer(t.Context(), llmtest.Script{Default: &llmtest.ScriptTurn{Say: "x", Fault: llmtest.Stall}}, llmtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := &http.Client{Transport: &http.Transport{}}
	_, err = anthropic.NewProvider(anthropic.Config{BaseURL: s.URL(), HTTP: h}).Stream(t.Context(), request("a"), func(llm.AnswerDelta) { stop() })
	if err == nil {
		t.Error("a stalled answer came to its end")
	}
	stop()
	h.CloseIdleConnections()
	if _, _, err := llmtest.StartServer(t.Context(), llmtest.Script{}, llmtest.Options{Addr: "256.0.0.1:1"}); err == nil {
		t.Error("listens nowhere")
	}
}

// TestPace checks that events come one by one when a person watches.
func TestPace(t *testing.T) {
	s := play(t, "default: {say: x}", llmtest.Options{Pace: 5 * time.Millisecond})
	start := time.Now()
	resp, err := http.Post(s.URL()+"/v1/messages", "", strings.NewReader(`{"model":"m","stream":true,"messages":[{"role":"user","content":"x"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	events := 0
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "event: ") {
			events++
		}
	}
	if took := time.Since(start); events != 6 || took < 20*time.Millisecond {
		t.Errorf("%d events in %s", events, took)
	}
}

func BenchmarkServer(b *testing.B) {
	for name, prompt := range map[string]int{"4KB": 4 << 10, "100KB": 100 << 10} {
		b.Run(name, func(b *testing.B) {
			s, stop, err := llmtest.StartServer(b.Context(), llmtest.Script{Default: &llmtest.ScriptTurn{
				Say: "I look.", Calls: []llmtest.ScriptCall{{Tool: "shell", Input: map[string]any{"command": "true"}}},
			}}, llmtest.Options{})
			if err != nil {
				b.Fatal(err)
			}
			defer stop()
			m := anthropic.NewProvider(anthropic.Config{BaseURL: s.URL()})
			r := request("a")
			for len(r.Messages[0].Parts) < prompt/1024 {
				r.Messages[0].Parts = append(r.Messages[0].Parts, llm.MessagePart{Text: strings.Repeat("some code\n", 102)})
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Stream(b.Context(), r, nil); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
		})
	}
}
